"""Finds the sessions of the coding agents that are installed on this machine.

Each agent keeps them in a folder of the user, which a variable of the environment can move: Claude Code in
`projects/` of `CLAUDE_CONFIG_DIR`, Codex in `sessions/` of `CODEX_HOME`, gemini-cli in `tmp/*/chats/` of the
folder `.gemini` in `GEMINI_CLI_HOME`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent, and where it keeps its sessions."""

    name: str
    variable: str  # names the folder, or the one above `below`
    folder: str  # in the home of the user, without the variable
    below: str
    patterns: tuple[str, ...]

    def home(self, environment: Mapping[str, str]) -> Path:
        """The folder of the agent."""
        moved = environment.get(self.variable)
        return (
            Path(moved) / self.below
            if moved
            else Path(environment.get("HOME", "~")).expanduser() / self.folder
        )

    def sessions(self, environment: Mapping[str, str]) -> list[Path]:
        """The files of its sessions."""
        home = self.home(environment)
        return sorted({file for pattern in self.patterns for file in home.glob(pattern) if file.is_file()})


AGENTS: Final = (
    Agent("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "", ("projects/**/*.jsonl",)),
    Agent("Codex", "CODEX_HOME", ".codex", "", ("sessions/**/*.jsonl", "archived_sessions/*.jsonl")),
    Agent("gemini-cli", "GEMINI_CLI_HOME", ".gemini", ".gemini", ("tmp/*/chats/*.json*",)),
)


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of one agent."""

    agent: str
    home: Path
    files: Sequence[Path]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.stat().st_size for file in self.files)


def sessions_here(environment: Mapping[str, str]) -> list[Sessions]:
    """The sessions of each agent that has some."""
    found = [Sessions(one.name, one.home(environment), one.sessions(environment)) for one in AGENTS]
    return [one for one in found if one.files]

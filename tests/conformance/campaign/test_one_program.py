"""One program of a file of several: it has all that it needs, and no other program."""

import ast
import re

import pytest
from places import ROOT

from runlock.conformance.campaign.one_program import file_name, text_of
from runlock.conformance.campaign.programs import programs_of
from runlock.conformance.campaign.runtimes import runtimes

STANDALONE = ROOT / "docs/standalone"
PARTS = [program for program in programs_of(runtimes()) if " " in program]

FILES = {
    "show_it.py": '''"""What it does.

A name on the command line shows one bug.

pip install it==1.0.0
"""

import json
import sys

LIMIT = 3


def limit():
    return LIMIT


def first():
    return limit()


def second():
    return json.dumps(0)


PROGRAMS = {one.__name__: one for one in (first, second)}

print([PROGRAMS[name]() for name in sys.argv[1:] or PROGRAMS])
''',
    "show_it.mjs": """// What it does.
//
//     npm install it@1.0.0
//     node - [NAME] < show_it.mjs

import {
  one, two as other,
} from "it";
import fs from "fs";

/** A limit. */
const limit = () => {
  return one;
};

async function first() {
  return limit();
}

async function second() {
  return fs;
}

const programs = {
  first,
  second,
};
for (const name of Object.keys(programs)) {
  await programs[name]();
}
""",
}
LEFT_OUT = {
    "show_it.py": [
        "A name on the command line shows one bug.\n\n",
        "import json\n",
        "def second():\n    return json.dumps(0)\n\n\n",
    ],
    "show_it.mjs": [
        " [NAME]",
        'import fs from "fs";\n',
        "async function second() {\n  return fs;\n}\n\n",
    ],
}
"""What of a file the program `first` does not need."""

TABLES = {
    "show_it.py": ("{one.__name__: one for one in (first, second)}", '{"first": first}'),
    "show_it.mjs": ("{\n  first,\n  second,\n}", "{ first }"),
}
"""The table of a file, and that of the program `first`."""


@pytest.fixture
def folder(tmp_path):
    """A folder with a file of two programs in each language."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("file", FILES)
def test_a_program_alone_has_what_it_uses(folder, file):
    """Its function, what that uses, the loop that runs it, and the line that installs the packages."""
    alone = FILES[file].replace(*TABLES[file]).replace(file, file_name(f"{file} first"))
    for part in LEFT_OUT[file]:
        alone = alone.replace(part, "")

    assert text_of(f"{file} first", folder) == alone


def test_a_file_that_is_one_program_stays_as_it_is(folder):
    """It has no name to choose by."""
    assert text_of("show_it.py", folder) == FILES["show_it.py"]
    assert file_name("langgraph_repeated_id.py") == "langgraph_repeated_id.py"


def test_a_program_that_is_not_in_the_file_is_an_error(folder):
    """A name that was mistyped is said."""
    with pytest.raises(LookupError, match="no program frist"):
        text_of("show_it.py frist", folder)


@pytest.mark.parametrize("program", PARTS)
def test_no_other_program_of_the_file_is_in_it(program):
    """One file, one bug; what is published under a name is that and no more."""
    file, _, name = program.partition(" ")
    others = {part.partition(" ")[2] for part in PARTS if part.startswith(f"{file} ")} - {name}
    text = text_of(program, STANDALONE)
    defined = set(re.findall(r"^(?:async )?(?:def|function) (\w+)", text, re.MULTILINE))

    assert name in defined
    assert not others & defined
    assert file not in text
    assert "command line" not in text
    assert "[NAME]" not in text
    assert not file.endswith(".py") or ast.parse(text)

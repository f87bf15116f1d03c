"""One program of a file of several: it has all that it needs, and no other program."""

import ast
import re

import pytest
from places import ROOT

from runlock.conformance.campaign.one_program import file_name, text_of
from runlock.conformance.campaign.runtimes import runtimes

STANDALONE = ROOT / "docs/standalone"
PARTS = sorted(
    {known.standalone for one in runtimes() for known in one.seen if " " in (known.standalone or "")}
)

FILES = {
    "show_it.py": '''"""What it does; a name on the command line shows one.

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
ALONE = {
    "show_it.py first": '''"""What it does.

pip install it==1.0.0
"""

import sys

LIMIT = 3


def limit():
    return LIMIT


def first():
    return limit()


PROGRAMS = {"first": first}

print([PROGRAMS[name]() for name in sys.argv[1:] or PROGRAMS])
''',
    "show_it.mjs first": """// What it does.
//
//     npm install it@1.0.0
//     node - < it_first.mjs

import {
  one, two as other,
} from "it";

/** A limit. */
const limit = () => {
  return one;
};

async function first() {
  return limit();
}

const programs = { first };
for (const name of Object.keys(programs)) {
  await programs[name]();
}
""",
}


@pytest.fixture
def folder(tmp_path):
    """A folder with a file of two programs in each language."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("program", ALONE)
def test_a_program_alone_has_what_it_uses(folder, program):
    """Its function, what that uses, the loop that runs it, and the line that installs the packages."""
    assert text_of(program, folder) == ALONE[program]


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
    assert not file.endswith(".py") or ast.parse(text)

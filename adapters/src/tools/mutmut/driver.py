"""Starts mutmut, or pytest as mutmut would, from words that no shell and no length limit touches.

    driver.py list CORES LOADED          make every mutant, run none; say which functions run while modules load
    driver.py test CORES NAMES           run the mutants that the JSON file NAMES names
    driver.py alone NAME TESTS WORD...   one mutant in a process of its own: on before anything is loaded
    driver.py reach LINES FILE... -- WORD...   which lines of unchanged files the tests run
"""

import functools
import importlib.machinery
import json
import os
import shutil
import sys
import threading

FOLDERS = ("", "src", "source")


def watch_loading(found):
    """Notes each mutated function that is called while some module is being loaded.

    mutmut switches a mutant on in a process that has loaded the modules before: what such a call left behind, a table
    at module level say, was made by the original.
    """
    import mutmut.mutation.trampoline as trampoline

    depth = threading.local()

    def counted(load):
        @functools.wraps(load)
        def exec_module(self, module):
            depth.now = getattr(depth, "now", 0) + 1
            try:
                return load(self, module)
            finally:
                depth.now -= 1

        return exec_module

    loaders = [importlib.machinery.SourceFileLoader]
    try:
        from _pytest.assertion.rewrite import AssertionRewritingHook

        loaders.append(AssertionRewritingHook)
    except ImportError:
        pass
    for loader in loaders:
        loader.exec_module = counted(loader.exec_module)
    record = trampoline.record_trampoline_hit

    def noted(name, *args, **kwargs):
        if getattr(depth, "now", 0):
            found.add(name)
        return record(name, *args, **kwargs)

    trampoline.record_trampoline_hit = noted


def run(words):
    from mutmut.__main__ import cli

    cli(["run", "--max-children", *words])


def list_all(cores, loaded):
    # What an earlier run left is never trusted: mutmut keeps verdicts of tests and sources that have changed since.
    shutil.rmtree("mutants", ignore_errors=True)
    found = set()
    watch_loading(found)
    try:
        run([cores, "@@none@@"])
    finally:
        with open(loaded, "w", encoding="utf-8") as file:
            json.dump(sorted(found), file)


def test(cores, names):
    with open(names, encoding="utf-8") as file:
        run([cores, *json.load(file)])


def search_in(folder):
    """The module search path as mutmut sets it, for this process and those that it starts."""
    paths = [os.path.abspath(os.path.join(folder, name)) for name in FOLDERS]
    paths = [path for path in paths if os.path.isdir(path)]
    sys.path[:0] = reversed(paths)
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(paths + ([inherited] if inherited else []))


def alone(name, tests, *words):
    os.environ["MUTANT_UNDER_TEST"] = name
    os.environ["PY_IGNORE_IMPORTMISMATCH"] = "1"
    with open(tests, encoding="utf-8") as file:
        chosen = json.load(file)
    os.chdir("mutants")
    search_in(".")
    import pytest

    sys.exit(int(pytest.main([*words, *chosen])))


def reach(lines, *rest):
    import coverage

    split = rest.index("--")
    files, words = rest[:split], list(rest[split + 1:])
    search_in(".")
    cover = coverage.Coverage(data_file=None, include=[os.path.abspath(name) for name in files])
    cover.start()
    import pytest

    code = int(pytest.main(words))
    cover.stop()
    data = cover.get_data()
    reached = {name: sorted(data.lines(os.path.abspath(name)) or []) for name in files}
    with open(lines, "w", encoding="utf-8") as file:
        json.dump({"exit": code, "lines": reached}, file)
    sys.exit(code)


if __name__ == "__main__":
    # The folder of this file is not part of anybody's search path.
    del sys.path[0]
    {"list": list_all, "test": test, "alone": alone, "reach": reach}[sys.argv[1]](*sys.argv[2:])

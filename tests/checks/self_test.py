#!/usr/bin/env python3
"""The checks themselves can fail: each gets a small tree with one fault in it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run(check, files):
    with tempfile.TemporaryDirectory() as name:
        for path, text in files.items():
            file = pathlib.Path(name) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        interpreter = [sys.executable] if check.endswith(".py") else ["bash"]
        done = subprocess.run(interpreter + [str(HERE / check), name], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Layering(unittest.TestCase):
    def judge(self, path, header):
        return run("layering.py", {path: "#pragma once\n#include %s\n" % header})

    def test_allowed(self):
        for path, header in [
            ("include/nicmon/device/x.h", '"nicmon/verbs/verbs_api.h"'),
            ("include/nicmon/device/x.h", "<infiniband/verbs.h>"),
            ("src/http/x.cc", '"nicmon/monitor/view.h"'),
            ("src/http/x.cc", "<vector>"),
        ]:
            code, output = self.judge(path, header)
            self.assertEqual(code, 0, output)

    def test_refused(self):
        for path, header in [
            ("src/http/x.cc", '"nicmon/monitor/node_monitor.h"'),
            ("src/metrics/x.cc", '"nicmon/monitor/device_monitor.h"'),
            ("src/http/x.cc", '"nicmon/device/device_context.h"'),
            ("src/monitor/x.cc", "<infiniband/verbs.h>"),
            ("src/monitor/x.cc", '"nicmon/http/server.h"'),
            ("src/device/x.cc", '"nicmon/monitor/snapshot.h"'),
            ("src/base/x.cc", '"nicmon/verbs/events.h"'),
            ("include/nicmon/monitor/snapshot.h", '"nicmon/device/device_context.h"'),
            ("src/monitor/x.cc", '"nicmon/app/node.h"'),
            ("src/unheard_of/x.cc", '"nicmon/base/clock.h"'),
        ]:
            code, output = self.judge(path, header)
            self.assertEqual(code, 1, path + " " + header)
            self.assertIn(path + ":2:", output)


class Results(unittest.TestCase):
    def judge(self, cases):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("<testsuite>%s</testsuite>" % cases)
            file.flush()
            return subprocess.run(
                [sys.executable, str(HERE / "results.py"), file.name], capture_output=True, text=True
            )

    def test_each_kind(self):
        done = self.judge(
            '<testcase name="a" status="run"><system-out>SKIPPED: not really</system-out></testcase>'
            '<testcase name="b" status="fail"><failure message=""/>'
            "<system-out>[ RUN      ] b\nx.cc:5:\tFailure\n\n[  FAILED  ] b\n</system-out></testcase>"
            '<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
            "<system-out>building\nSKIPPED: no qemu\n</system-out></testcase>"
            '<testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>'
            '<testcase name="e" status="disabled"><system-out>Disabled</system-out></testcase>'
        )
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "passed\t1",
                "failed\tb",
                "output\tx.cc:5: Failure",
                "skipped\tc\tno qemu",
                "failed\td",
                "skipped\te\tdisabled",
            ],
        )

    def test_long_output_keeps_its_end(self):
        lines = "\n".join(map(str, range(1000)))
        done = self.judge('<testcase name="a" status="fail"><system-out>%s</system-out></testcase>' % lines)
        self.assertEqual(done.stdout.splitlines()[-1], "output\t999")
        self.assertLess(len(done.stdout.splitlines()), 40)

    def test_a_broken_file_is_an_error(self):
        self.assertNotEqual(self.judge("<testcase").returncode, 0)


class Others(unittest.TestCase):
    def test_paths(self):
        place = "/home" + "/someone/nicmon"
        self.assertEqual(run("paths.py", {"a.txt": "see %s\n" % place})[0], 1)
        self.assertEqual(run("paths.py", {"a.txt": "see /var/lib/nicmon and /tmp/x\n"})[0], 0)

    def test_scripts(self):
        self.assertEqual(run("scripts.sh", {"a": "#!/usr/bin/env bash\necho hello\n"})[0], 0)
        self.assertNotEqual(run("scripts.sh", {"a": "#!/usr/bin/env bash\nif true; then\n"})[0], 0)

    def test_format(self):
        ugly = {"src/a.cc": "int  f( ) { return 1; }\n", "include/a.h": "", "tests/a.h": ""}
        code, _ = run("format.sh", dict(ugly, **{".clang-format": "BasedOnStyle: Google\n"}))
        self.assertIn(code, (1, 77))


if __name__ == "__main__":
    unittest.main()

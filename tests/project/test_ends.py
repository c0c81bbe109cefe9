#!/usr/bin/env python3
"""A test that waits in vain for a process names it, and leaves nothing behind."""

import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402


def fails(wait, process):
    """What the wait says when it fails; None: it did not."""
    try:
        wait(process, deadline=0.2)
    except AssertionError as error:
        return str(error)
    return None


def main():
    report = tap.Report()
    with subprocess.Popen(['sh', '-c', 'sleep 12345 & exit 0'], stdout=subprocess.PIPE) as process:
        process.wait()
        said = fails(ends.communicate, process)
        report.check(said and 'sleep 12345' in said, 'the holder of a pipe is named', said)
        report.check(process.stdout.read() == b'', 'and is ended', ends.named(ends.holders([process.stdout.fileno()])))
    with subprocess.Popen(['sleep', '12346']) as process:
        said = fails(ends.wait, process)
        report.check(said and f'process {process.pid} (sleep 12346)' in said, 'so is a process that goes on', said)
    with subprocess.Popen(['sh', '-c', 'sleep 12347; true']) as process:
        said = ''
        try:
            with ends.naming():
                while '(sleep 12347)' not in ends.named(ends.below(process.pid)):
                    pass
                raise AssertionError('never')
        except AssertionError as error:
            said = str(error)
        report.check(said.startswith('never\n') and '(sleep 12347)' in said, 'and those below a test that waits in vain', said)
        for pid in [process.pid, *ends.below(process.pid)]:
            os.kill(pid, signal.SIGKILL)
    done = ends.run(['cat'], input='in', capture_output=True, text=True)
    report.check((done.returncode, done.stdout) == (0, 'in'), 'what ends in time is as it is', done)
    report.end()


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""
takt in other people's builds: as a Meson subproject, and installed and found by pkg-config, linked shared and static,
from C and from C++. A worker is built outside the source tree as docs/workers.md says, and does a job. What was
installed is uninstalled without a rest.

The suite's own build is installed, below a folder as packagers do (DESTDIR). The subproject is compiled anew; the test
shows that programs find and link it, so it has neither optimization nor debug information.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ends  # noqa: E402
import tap  # noqa: E402

BESIDE = ['doctor', 'simulate']

QUICKLY = ['-Doptimization=0', '-Ddebug=false']

CC = os.environ.get('CC', 'cc').split()
CXX = os.environ.get('CXX', 'c++').split()


def as_subproject(report, source, consumer, scratch):
    project = scratch / 'subproject'
    shutil.copytree(consumer, project)
    (project / 'subprojects').mkdir()
    (project / 'subprojects' / 'takt').symlink_to(source)
    build = scratch / 'subproject-build'
    if report.command("dependency('takt') finds the subproject",
                      ['meson', 'setup', '--wrap-mode=forcefallback', *QUICKLY, build, project]):
        report.command('a program builds and runs with the subproject', ['meson', 'test', '-C', build])


def installed(report, build, root):
    """Installs the build below a folder. Returns its prefix there, and the environment in which it is found."""
    if report.command('installs', ['meson', 'install', '-C', build, '--no-rebuild', '--destdir', root]) is None:
        return None, None
    found = sorted(root.rglob('pkgconfig/takt.pc'))
    if not report.check(len(found) == 1, 'one takt.pc is installed', found):
        return None, None
    libraries = found[0].parents[1]
    prefix = root / re.search(r'^prefix=/*(.*)$', found[0].read_text(encoding='utf-8'), re.M).group(1)
    environment = dict(os.environ, PKG_CONFIG_PATH=str(found[0].parent), PKG_CONFIG_SYSROOT_DIR=str(root),
                       LD_LIBRARY_PATH=str(libraries))
    return prefix, environment


def by_pkg_config(report, main, prefix, scratch, environment):
    def flags(*options):
        found = report.command(f'pkg-config {" ".join(options)} takt', ['pkg-config', *options, 'takt'],
                               env=environment)
        return (found or '').split()

    shared = flags('--cflags', '--libs')
    static = ['-l:libtakt.a' if flag == '-ltakt' else flag for flag in flags('--static', '--cflags', '--libs')]
    for name, compiler, link in [('C, shared', CC, shared), ('C, static', CC, static),
                                 ('C++, shared', [*CXX, '-x', 'c++'], shared)]:
        program = scratch / name.replace(', ', '-')
        if report.command(f'a program builds from the prefix: {name}',
                          [*compiler, str(main), '-x', 'none', '-o', str(program), *link],
                          env=environment) is not None:
            report.command(f'and runs: {name}', [str(program)], env=environment)

    names = [path.name for path in prefix.rglob('libtakt.so*')]
    report.check('libtakt.so.0' in names, 'the shared library has the soname libtakt.so.0', names)


def beside_by_pkg_config(report, consumer, prefix, scratch, environment):
    """The libraries beside takt, which bring it along, static."""
    for name in BESIDE:
        found = report.command(f'pkg-config --cflags --libs takt-{name}',
                               ['pkg-config', '--cflags', '--libs', f'takt-{name}'], env=environment)
        program = scratch / name
        if report.command(f'a program builds from the prefix: takt-{name}',
                          [*CC, consumer / f'{name}.c', '-o', program, *(found or '').split()],
                          env=environment) is not None:
            report.command(f'and runs: takt-{name}', [program], env=environment)
    shared = sorted(path.name for path in prefix.rglob('*.so'))
    report.check(shared == ['libtakt-worker.so', 'libtakt.so'], 'these are shared: what programs link', shared)


def worker_by_pkg_config(report, source, prefix, scratch, environment):
    """The example of docs/workers.md, built outside the source tree by the page's command."""
    here = scratch / 'worker'
    here.mkdir()
    shutil.copy(source / 'workers' / 'print' / 'print.c', here)
    (here / 'takt.yaml').write_text('store: "file:ledgers.mdb"\nlimits: [{name: api, rules: [{rate: 1000/s}]}]\n')
    (here / 'jobs').write_text('{"id": "1", "limit": "api", "text": "hello"}\n{"id": "2", "limit": "api"}\n')
    documented = re.findall(r'^cc print\.c .*$', (source / 'docs' / 'workers.md').read_text(encoding='utf-8'), re.M)
    report.check(len(documented) == 1, 'docs/workers.md says how a worker is built elsewhere', documented)
    if report.command('a worker builds from the prefix', ['sh', '-c', documented[0]], cwd=here, env=environment) is None:
        return
    needed = report.command('readelf', ['readelf', '--dynamic', here / 'takt-print']) or ''
    report.check('[libtakt-worker.so.0]' in needed, 'it needs libtakt-worker.so.0', needed)
    done = ends.run(['./takt-print', '-i', 'jobs', '--log', 'none'], cwd=here, env=environment, capture_output=True,
                    text=True)
    report.check(done.returncode == 1 and [json.loads(line) for line in done.stdout.splitlines()]
                 == [{'id': '1', 'text': 'hello'}], 'it does a job', [done.returncode, done.stdout, done.stderr])
    dead = (here / 'jobs.dead').read_text(encoding='utf-8') if (here / 'jobs.dead').exists() else ''
    report.check('"id":"2"' in dead and 'a job needs one' in dead, 'and buries the one that its check refuses', dead)


def uninstalled(report, build, root):
    report.command('uninstalls', ['ninja', '-C', build, 'uninstall'])
    left = [str(path) for path in root.rglob('*') if not path.is_dir()]
    report.check(not left, 'nothing is left of it', left)


def main():
    source, build = pathlib.Path(os.environ['TAKT_SOURCE']), pathlib.Path(os.environ['TAKT_BUILD'])
    consumer = pathlib.Path(__file__).resolve().parent / 'consumer'
    report = tap.Report()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        root = scratch / 'root'
        as_subproject(report, source, consumer, scratch)
        prefix, environment = installed(report, build, root)
        if environment:
            by_pkg_config(report, consumer / 'consumer.c', prefix, scratch, environment)
            beside_by_pkg_config(report, consumer, prefix, scratch, environment)
            worker_by_pkg_config(report, source, prefix, scratch, environment)
            report.command('the installed command runs', [str(prefix / 'bin' / 'takt'), '--version'])
            uninstalled(report, build, root)
    report.end()


if __name__ == '__main__':
    main()

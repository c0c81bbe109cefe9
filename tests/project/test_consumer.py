#!/usr/bin/env python3
"""
takt in other people's builds: as a Meson subproject, and installed into a prefix and found by pkg-config, linked
shared and static, from C and from C++. It is whether they find and link it, so nothing is optimized.
"""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

BESIDE = ['doctor', 'simulate']

CC = os.environ.get('CC', 'cc').split()
CXX = os.environ.get('CXX', 'c++').split()


def as_subproject(report, source, consumer, scratch):
    project = scratch / 'subproject'
    shutil.copytree(consumer, project)
    (project / 'subprojects').mkdir()
    (project / 'subprojects' / 'takt').symlink_to(source)
    build = scratch / 'subproject-build'
    if report.command("dependency('takt') finds the subproject",
                      ['meson', 'setup', '--wrap-mode=forcefallback', '-Doptimization=0', build, project]):
        report.command('a program builds and runs with the subproject', ['meson', 'test', '-C', build])


def installed(report, source, prefix, scratch):
    """Installs into the prefix and returns the environment in which it is found."""
    build = scratch / 'installed-build'
    if not report.command('configures for a prefix', ['meson', 'setup', f'--prefix={prefix}', '-Dlibdir=lib',
                                                      '-Dtests=disabled', '-Doptimization=0', build, source]):
        return None
    if not report.command('installs', ['meson', 'install', '-C', build]):
        return None
    return dict(os.environ, PKG_CONFIG_PATH=str(prefix / 'lib' / 'pkgconfig'),
                LD_LIBRARY_PATH=str(prefix / 'lib'))


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
                          [*compiler, str(main), '-x', 'none', '-o', str(program), *link], env=environment):
            report.command(f'and runs: {name}', [str(program)], env=environment)

    names = [path.name for path in (prefix / 'lib').glob('libtakt.so*')]
    report.check('libtakt.so.0' in names, 'the shared library has the soname libtakt.so.0', names)


def beside_by_pkg_config(report, consumer, prefix, scratch, environment):
    """The libraries beside takt, which bring it along, static."""
    for name in BESIDE:
        found = report.command(f'pkg-config --cflags --libs takt-{name}',
                               ['pkg-config', '--cflags', '--libs', f'takt-{name}'], env=environment)
        program = scratch / name
        if report.command(f'a program builds from the prefix: takt-{name}',
                          [*CC, consumer / f'{name}.c', '-o', program, *(found or '').split()], env=environment):
            report.command(f'and runs: takt-{name}', [program], env=environment)
    shared = sorted(path.name for path in (prefix / 'lib').glob('*.so'))
    report.check(shared == ['libtakt.so'], 'one library is shared: what a worker links', shared)


def main():
    source = pathlib.Path(os.environ['TAKT_SOURCE'])
    consumer = pathlib.Path(__file__).resolve().parent / 'consumer'
    report = tap.Report()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = scratch / 'prefix'
        as_subproject(report, source, consumer, scratch)
        environment = installed(report, source, prefix, scratch)
        if environment:
            by_pkg_config(report, consumer / 'consumer.c', prefix, scratch, environment)
            beside_by_pkg_config(report, consumer, prefix, scratch, environment)
            report.command('the installed command runs', [str(prefix / 'bin' / 'takt'), '--version'])
    report.end()


if __name__ == '__main__':
    main()

"""Results as pictures, one SVG for each workload, and numbers and cases as people read them."""

import math

BAR, GAP, LEFT, WIDTH = 18, 6, 320, 420
COLOURS = {'takt': '#0b7a75'}
OTHERS = '#9aa5b1'


def number(value):
    """Three digits, four where they are all, and no more zeros than a person reads."""
    if value is None:
        return '-'
    if value == 0:
        return '0'
    if abs(value) >= 1e6:
        return f'{float(f"{value / 1e6:.3g}"):,g} million'
    if 1000 <= abs(value) < 10000:
        return f'{value:,.0f}'
    if abs(value) >= 1000:
        return f'{float(f"{value:.3g}"):,.0f}'
    if abs(value) < 0.001:
        return f'{value:.1e}'
    return f'{value:.3g}'


def words_of(case):
    return ', '.join(f'{value:,} {name}' if name != 'rate' else f'{value}/s' for name, value in case.items())


def escape(text):
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')


def svg(workload, results):
    """Bars on a logarithmic scale: the tools span many powers of ten."""
    rows = [(f'{result["tool"]}, {words_of(result["case"])}', result['tool'], result['figures'][workload.main]['median'])
            for result in results if result['figures'].get(workload.main)]
    shown = [value for _, _, value in rows if value > 0]
    least, most = (min(shown), max(shown)) if shown else (1, 10)
    low = math.floor(math.log10(least) - 0.3)
    span = max(math.log10(most) - low, 0.1)
    height = 44 + len(rows) * (BAR + GAP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 120}" height="{height}" '
             'font-family="sans-serif" font-size="12">',
             f'<text x="8" y="20" font-size="14">({workload.letter}) {escape(workload.title)}: '
             f'{workload.main.replace("_", " ")}</text>']
    for row, (label, tool, value) in enumerate(rows):
        top = 34 + row * (BAR + GAP)
        size = WIDTH * (math.log10(value) - low) / span if value > 0 else 1
        lines.append(f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{escape(label)}</text>'
                     f'<rect x="{LEFT}" y="{top}" width="{size:.1f}" height="{BAR}" fill="{COLOURS.get(tool, OTHERS)}"/>'
                     f'<text x="{LEFT + size + 6:.1f}" y="{top + 13}">{number(value)}</text>')
    return '\n'.join([*lines, '</svg>', ''])

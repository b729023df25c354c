// Draws the terminal pictures of README into docs/pictures: each is what the built tool shows on a terminal.
//   npm run pictures [-- <directory>]
// Each command runs against the sandbox, on a pseudo-terminal whose screen becomes one SVG: text stays text, so that a
// picture can be searched, read aloud and scaled. Seed, clock and ids are fixed, so that each drawing is the same.
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PICTURES = {
  month: { line: 'svc au refresh cards.csv --cycle 2026-12', time: '2026-12-01T08:00:00Z', clock: 'runs' },
  night: {
    before: 'svc logs archive audit',
    line: 'svc logs history 15de1cd5-32b5-4e3a-aa4e-7f4c17dd206f --archive audit',
    time: '2026-12-02T02:00:00Z',
    clock: 'stands',
  },
};

const COLUMNS = 96;
const CELL = { width: 8.4, height: 19 };
const PADDING = 16;
const INK = '#d8dee9';
const PAPER = '#1c2230';
const COLOURS = ['#4c566a', '#f07178', '#a3d977', '#f2c55c', '#7aa7f0', '#c792ea', '#6fd3d3', '#e5e9f0'];

const project = fileURLToPath(new URL('..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'svc-pictures-'));
const node = `'${process.execPath}' --require '${join(project, 'build/clock.cjs')}'`;
writeFileSync(join(home, 'svc'), `#!/bin/sh\nexec ${node} '${join(project, 'bin/svc.js')}' "$@"\n`);
chmodSync(join(home, 'svc'), 0o755);
const pictures = resolve(process.argv[2] ?? join(project, 'docs/pictures'));
mkdirSync(pictures, { recursive: true });

try {
  copyFileSync(join(project, 'src/sandbox/data/tokens.csv'), join(home, 'cards.csv'));
  for (const [name, { before, line, ...clock }] of Object.entries(PICTURES)) {
    // The logs of the sandbox begin when its state does.
    const env = environment(join(home, name), clock);
    if (before) await show(before, env);
    const screen = await show(line, env);
    writeFileSync(join(pictures, `${name}.svg`), draw(line, linesOf(screen)));
  }
} finally {
  rmSync(home, { recursive: true });
}

function environment(HOME, { time, clock }) {
  return {
    PATH: `${home}:${process.env.PATH}`,
    HOME,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    SVC_PROFILE: 'sandbox',
    SVC_PAGER: '',
    PICTURE_TIME: time,
    PICTURE_CLOCK: clock,
  };
}

/** Runs a command line. Resolves to the screen after it ended. */
async function show(line, env) {
  const screen = new xterm.Terminal({ cols: COLUMNS, rows: 60, allowProposedApi: true });
  const shell = spawn('/bin/sh', ['-c', line], { name: 'xterm-256color', cols: COLUMNS, rows: 60, cwd: home, env });
  let written = Promise.resolve();
  shell.onData((data) => {
    written = new Promise((resolve) => screen.write(data, resolve));
  });
  const code = await new Promise((resolve) => shell.onExit(({ exitCode }) => resolve(exitCode)));
  await written;
  if (code !== 0) throw new Error(`${line} ended with ${code}`);
  return screen.buffer.active;
}

/** Returns the lines of a screen as runs of cells that look alike. */
function linesOf(buffer) {
  const lines = Array.from({ length: buffer.length }, (_, at) => runsOf(buffer.getLine(at)));
  while (lines.length > 0 && lines.at(-1).length === 0) lines.pop();
  return lines;
}

function runsOf(line) {
  const runs = [];
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    const text = cell.getChars();
    if (text.trim() === '') continue;
    const style = styleOf(cell);
    const last = runs.at(-1);
    if (last && last.style === style && last.end === column) {
      last.text += text;
      last.end += cell.getWidth();
    } else runs.push({ text, style, column, end: column + cell.getWidth() });
  }
  return runs;
}

function styleOf(cell) {
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor() % 8] : INK;
  return `fill="${colour}"${cell.isBold() ? ' font-weight="bold"' : ''}${cell.isDim() ? ' opacity="0.65"' : ''}`;
}

function draw(line, lines) {
  const prompt = [
    { text: '$', style: `fill="${COLOURS[2]}"`, column: 0, end: 1 },
    { text: line, style: `fill="${INK}" font-weight="bold"`, column: 2, end: 2 + line.length },
  ];
  const all = [prompt, ...lines];
  const width = Math.round(COLUMNS * CELL.width + 2 * PADDING);
  const height = all.length * CELL.height + 2 * PADDING;
  const rows = all.map((runs, at) => textOf(runs, PADDING + (at + 0.75) * CELL.height)).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escape(line)}">
<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${rows}</g>
</svg>
`;
}

/** Replaces a word that is the random id of a job or a tenant, or has the random part of the id of a run. */
function withFixedId(text, before) {
  if (before === 'job') return '5d0c7a1e-93b4-4f6a-8e27-c1f0b2a4d963';
  if (before === 'tenant') return 'c7f82314-898e-483b-ada7-09a94e2fdbc0';
  return text.replace(/^(run-\d{8}-[0-9a-f]{8})-[0-9a-f]{4}/, '$1-4c2a');
}

/** Draws a line. Each run is stretched to its cells, so that columns stay aligned whatever font the reader has. */
function textOf(runs, y) {
  const spans = runs.map(({ text, style, column, end }, at) => {
    const x = (PADDING + column * CELL.width).toFixed(1);
    return `<text x="${x}" y="${y}" textLength="${((end - column) * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs" ${style}>${escape(withFixedId(text, runs[at - 1]?.text))}</text>`;
  });
  return spans.length === 0 ? '' : `${spans.join('')}\n`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

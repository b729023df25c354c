/** The style sheet of the page: light, dark, narrow, and on paper. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --page: #fff; --line: #d0d7de; --track: #eaeef2;
  --updated: #1a7f37; --warned: #9a6700; --error: #cf222e; --unknown: #8250df; --unchanged: #57606a; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b3; --page: #0d1117; --line: #30363d; --track: #21262d;
    --updated: #3fb950; --warned: #d29922; --error: #f85149; --unknown: #a371f7; --unchanged: #8b949e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
p { margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.odd { border-left: 4px solid var(--error); padding: .25rem .75rem; }
.fine { border-left: 4px solid var(--updated); padding: .25rem .75rem; }
.chart { display: block; overflow: visible; margin: 0 0 1rem; }
.chart text { font-size: 14px; fill: var(--ink); }
.chart .end { text-anchor: end; font-variant-numeric: tabular-nums; }
.track { fill: var(--track); }
.updated, .update { fill: var(--updated); } .warned, .contact, .exclude { fill: var(--warned); }
.error, .fix { fill: var(--error); } .unknown { fill: var(--unknown); } .unchanged, .keep { fill: var(--unchanged); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { white-space: nowrap; }
th[scope=row] { font-weight: 600; overflow-wrap: break-word; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media (max-width: 40rem) {
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack, .stack caption, .stack tbody, .stack tr, .stack th, .stack td { display: block; }
  .stack tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .stack th, .stack td { overflow-wrap: anywhere; border: 0; padding: .1rem 0; text-align: left; white-space: normal; }
  .stack td::before { content: attr(data-label) ": "; color: var(--soft); }
}
@media print {
  body { font-size: 11pt; } main { max-width: none; padding: 0; }
  rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section, tr { break-inside: avoid; } section.long { break-inside: auto; } h2 { break-after: avoid; }
}
`;

import type { Meaning } from '../cli/glossary/glossary.ts';
import { escapeHtml, htmlPage } from '../cli/output/page.ts';

/** Returns meanings as one self-contained HTML page: a list of the kinds, and a section for each. */
export function glossaryPage(meanings: readonly Meaning[]): string {
  const kinds = [...new Set(meanings.map(({ kind }) => kind))];
  const links = kinds.map((kind) => `<a href="#${idOf(kind)}">${escapeHtml(kind)}</a>`).join(', ');
  const sections = kinds.map((kind) =>
    section(
      kind,
      meanings.filter((meaning) => meaning.kind === kind),
    ),
  );
  const body = `<p>What the service and svc name, and what to do about it.</p>\n<nav><p>${links}</p></nav>\n`;
  return htmlPage({ title: 'svc: words explained', heading: 'Words explained' }, body + sections.join(''));
}

function section(kind: string, meanings: readonly Meaning[]): string {
  return `<section class="long"><h2 id="${idOf(kind)}">${escapeHtml(kind)}</h2>
<table class="stack" role="table"><caption>${escapeHtml(kind)}: meanings, and what to do</caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Name</th><th scope="col" role="columnheader">Code</th><th scope="col" role="columnheader">Meaning</th><th scope="col" role="columnheader">What to do</th></tr></thead>
<tbody role="rowgroup">${meanings.map(row).join('\n')}</tbody></table>
</section>
`;
}

// The explicit roles are needed because narrow screens show rows as blocks, and some browsers then drop the roles of
// table tags.
function row({ name, code = '', means, liability, next = '' }: Meaning): string {
  const meaning = liability === undefined ? means : `${means} Liability for fraud: ${liability}`;
  return `<tr role="row"><th scope="row" role="rowheader">${escapeHtml(name)}</th><td role="cell" data-label="Code">${escapeHtml(code)}</td><td role="cell" data-label="Meaning">${escapeHtml(meaning)}</td><td role="cell" data-label="What to do">${escapeHtml(next)}</td></tr>`;
}

function idOf(kind: string): string {
  return kind.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

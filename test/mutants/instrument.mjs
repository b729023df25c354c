// Puts all changes of a file into its text at once, each behind a switch.
import { NOTHING } from './changes.mjs';

const SWITCH = 'svcIsChanged';

/**
 * Returns the text of a file in which `isChanged(number)` of `switchFile` decides which change is on. Changes can contain
 * other changes. They are sorted by position, and an outer change comes before those that it contains.
 */
export function instrumented(text, changes, switchFile) {
  // In the first line, so that the numbers of lines stay the same.
  const head = `import { isChanged as ${SWITCH} } from ${JSON.stringify(switchFile)}; `;
  return head + rendered(text, 0, text.length, changes);
}

/** Returns the text from `from` to `to` with the changes in it. */
function rendered(text, from, to, changes) {
  let [result, at, left] = ['', from, changes];
  while (left.length > 0) {
    const { start, end } = left[0];
    const within = left.filter((change) => change.end <= end);
    const same = within.filter((change) => change.start === start && change.end === end);
    const inner = within.filter((change) => !same.includes(change));
    result += text.slice(at, start) + switched(rendered(text, start, end, inner), same);
    at = end;
    left = left.filter((change) => !within.includes(change));
  }
  return result + text.slice(at, to);
}

/** Returns code that runs the original or the change of it that is on. */
function switched(original, changes) {
  if (changes[0].to === NOTHING) return `{ if (!${SWITCH}(${changes[0].number})) ${original} }`;
  const choices = changes.map(({ number, to }) => `${SWITCH}(${number}) ? (${to}) : `);
  return `(${choices.join('')}(${original}))`;
}

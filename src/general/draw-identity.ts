// Draws a profile's identity for people: its tenant, its keys with their permissions, and its settings.

import type { Context } from '../cli/app/command.ts';
import { headline } from '../cli/app/tenant-mark.ts';
import { KEY_TYPES } from '../cli/config/keys.ts';
import { cleanText } from '../cli/output/text.ts';
import { hangingIndent } from '../cli/output/wrap.ts';
import { MARKS } from '../cli/output/view.ts';
import { READ_PERMISSIONS, WRITE_PERMISSIONS } from '../client/api/permissions.ts';
import type { KeyType } from '../schema/tenant.ts';
import { agedText, keyAge } from './key-age.ts';
import type { Identity } from './identity.ts';

const LABEL = 'management key  '.length;

/** Draws the identity for people: tenant, profile, each key with its permissions, and other settings. */
export function drawIdentity(identity: Identity, context: Context): string {
  const { palette, plain, settings } = context;
  const { tenant, profile, base_url, origins } = identity;
  const columns = context.columns();
  const line = (label: string, text: string): string =>
    plain
      ? [label.trim(), text].filter((part) => part !== '').join(': ')
      : hangingIndent(palette.quiet(label.padEnd(LABEL)), LABEL, text, columns);
  const where = base_url ?? (settings.sandbox ? 'embedded in svc' : 'no base URL');
  const set = Object.entries(origins).filter(
    ([name, from]) => from !== 'default' && !/^(?:profile|base_url)$/.test(name),
  );
  const lines = [
    ...(tenant === null ? [] : [headline(tenant, palette, columns), '']),
    line('profile', `${profile} (${where})`),
    ...KEY_TYPES.flatMap((kind) => keyLines(identity, kind, context).map(([label, text]) => line(label, text))),
    ...set.map(([name, from]) => line(name.replace('_', ' '), `set by ${from}`)),
  ];
  return `${lines.join('\n')}\n`;
}

function keyLines(
  { permissions, refusals, ...row }: Identity,
  kind: KeyType,
  context: Context,
): [label: string, text: string][] {
  const { state, from, problem } = row[`${kind}_key`];
  const named = [...READ_PERMISSIONS, ...WRITE_PERMISSIONS]
    .filter((permission) => permission.kind === kind)
    .map(({ name }) => name);
  const having = (...statuses: string[]): string =>
    named.filter((name) => statuses.includes(permissions[name] ?? '')).join(', ');
  const details = new Set(named.flatMap((name) => refusals[name] ?? []));
  const isValid = state === 'accepted' || state === 'powerless';
  const rights: [string, string][] = [
    ['  may', having('allowed')],
    ['  may not', state === 'accepted' ? having('forbidden', 'refused') : ''],
    ['  because', isValid ? cleanText([...details].join('; ')) : ''],
    ['  not known', isValid ? named.filter((name) => permissions[name] === null).join(', ') : ''],
    ['  not checked', state === 'accepted' ? having('unclear') : ''],
  ];
  const tone = keyTone(state);
  const mark = context.marks && tone !== 'warn' ? MARKS[tone] : '';
  const origin = state === 'missing' || from === null ? '' : ` (${from}${ageOf(kind, from, context)})`;
  return [
    [`${kind} key`, context.palette[tone](mark + state) + cleanText(origin)],
    ...rights.filter(([, names]) => names !== ''),
    ...(problem === null || state === 'missing' ? [] : ([['', cleanText(problem)]] as [string, string][])),
  ];
}

/** Returns the age of a key in the profile, to follow its origin. The age of a key from a variable or a command is unknown. */
function ageOf(kind: KeyType, from: string, context: Context): string {
  const age = keyAge(context, kind);
  if (age === undefined || from !== `profile ${context.settings.profile.value}`) return '';
  return age.ageMs === undefined ? ', age unknown' : `, ${agedText(age)}`;
}

export function keyTone(state: unknown): 'good' | 'warn' | 'bad' {
  if (state === 'accepted') return 'good';
  return state === 'missing' || state === 'powerless' || state === 'unclear' ? 'warn' : 'bad';
}

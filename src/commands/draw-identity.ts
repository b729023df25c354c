import { READ_PERMISSIONS } from '../api/permissions.ts';
import type { Verdict } from '../app/check-key.ts';
import type { TenantFacts } from '../schema/tenant.ts';
import type { Context } from '../app/command.ts';
import { KEY_TYPES, type KeyType } from '../schema/key-type.ts';
import { cleanText, hangingIndent } from '../output/text.ts';
import { formatDuration, parseTime } from '../output/time.ts';
import { MARKS } from '../output/view.ts';
import { headline } from '../app/tenant-mark.ts';

/** A key, where it comes from, and what the service says of it. */
export interface KeyRow {
  readonly state: Verdict | 'missing' | 'unusable';
  readonly from: string | null;
  /** When it was stored; null where it is not stored, or an earlier version stored it. */
  readonly stored_at: string | null;
  readonly problem: string | null;
}

export interface Identity {
  readonly profile: string;
  readonly base_url: string | null;
  readonly tenant: TenantFacts | null;
  readonly management_key: KeyRow;
  readonly private_key: KeyRow;
  readonly permissions: Readonly<Record<string, string | null>>;
  readonly origins: Readonly<Record<string, string>>;
}

const LABEL = 'management key  '.length;

/** The identity for people: the tenant, the profile, each key with what it may read, and what is set elsewhere. */
export function drawIdentity(identity: Identity, context: Context): string {
  const { palette, out, plain, settings } = context;
  const { tenant, profile, base_url, origins } = identity;
  const columns = out.isTerminal && !plain ? out.width : Infinity;
  const line = (label: string, text: string): string =>
    plain
      ? [label.trim(), text].filter((part) => part !== '').join(': ')
      : hangingIndent(palette.quiet(label.padEnd(LABEL)), LABEL, text, columns);
  const where = base_url ?? (settings.sandbox ? 'embedded in svc' : 'no base URL');
  const set = Object.entries(origins).filter(
    ([name, from]) => from !== 'default' && !/^(?:profile|base_url)$/.test(name),
  );
  const lines = [
    ...(tenant === null ? [] : [headline(tenant, palette), '']),
    line('profile', `${profile} (${where})`),
    ...KEY_TYPES.flatMap((kind) => keyLines(identity, kind, context).map(([label, text]) => line(label, text))),
    ...set.map(([name, from]) => line(name.replace('_', ' '), `set by ${from}`)),
  ];
  return `${lines.join('\n')}\n`;
}

function keyLines({ permissions, ...row }: Identity, kind: KeyType, context: Context): [label: string, text: string][] {
  const { state, from, problem } = row[`${kind}_key`];
  const named = READ_PERMISSIONS.filter((permission) => permission.kind === kind).map(({ name }) => name);
  const having = (...statuses: string[]): string =>
    named.filter((name) => statuses.includes(permissions[name] ?? '')).join(', ');
  const rights: [string, string][] = [
    ['  may', having('allowed')],
    ['  may not', state === 'accepted' ? having('forbidden', 'refused') : ''],
    ['  not checked', state === 'accepted' ? having('unclear') : ''],
  ];
  const tone = keyTone(state);
  const mark = context.marks && tone !== 'warn' ? MARKS[tone] : '';
  const origin = state === 'missing' || from === null ? '' : ` (${from}${ageOf(row[`${kind}_key`], context)})`;
  return [
    [`${kind} key`, context.palette[tone](mark + state) + cleanText(origin)],
    ...rights.filter(([, names]) => names !== ''),
    ...(problem === null || state === 'missing' ? [] : ([['', cleanText(problem)]] as [string, string][])),
  ];
}

// The age of a key that an environment variable or a command gives is not known here.
function ageOf({ from, stored_at }: KeyRow, { clock, settings }: Context): string {
  if (from !== `profile ${settings.profile.value}`) return '';
  const at = parseTime(stored_at ?? '');
  return at === undefined ? ', age unknown' : `, stored ${formatDuration(clock.now() - at)} ago`;
}

export function keyTone(state: unknown): 'good' | 'warn' | 'bad' {
  if (state === 'accepted') return 'good';
  return state === 'missing' || state === 'powerless' || state === 'unclear' ? 'warn' : 'bad';
}

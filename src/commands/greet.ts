import { knownTenant } from '../app/check-key.ts';
import { type Context, defineCommand } from '../app/command.ts';
import { baseUrlText } from '../config/values.ts';
import { KEY_KINDS, type KeyKind, readConfig } from '../config/config-file.ts';
import { keyOrigin } from '../config/keys.ts';
import { unknownProfile } from '../config/settings.ts';
import { cleanText, hangingIndent, wrapWords } from '../output/text.ts';
import { isShowable } from '../security/typed-word.ts';
import { tenantMark } from './tenant/view.ts';

/** A command line, and what it does. */
type Step = readonly [line: string, does: string];

/** `svc` alone: where one stands, and what to do next. Asks nobody. */
export const welcome = defineCommand({
  examples: [],
  newProfile: true,
  parameters: {},
  async run(context) {
    refuseWhatMayBeKey(context);
    const kinds = KEY_KINDS.filter((kind) => keyOrigin(context.system, context.settings, kind) !== undefined);
    const { out, palette, plain } = context;
    const steps = context.settings.sandbox
      ? SANDBOX_STEPS
      : kinds.length === 0
        ? FIRST_STEPS
        : nextSteps(kinds);
    const option = optionFor(context);
    const shown = steps.map(([line, does]): Step => [
      / (?:--)?sandbox /.test(line) ? line : line.replace(/^svc /, `svc ${option}`),
      does,
    ]);
    const width = Math.max(...[...shown, ...MORE].map(([line]) => line.length));
    const columns = out.isTerminal && !plain ? out.width : Infinity;
    const lines = [
      ...wrapWords('svc: the card vault from the command line', columns).map((line) => palette.strong(line)),
      '',
      ...statusLines(context, kinds, columns),
      '',
      ...[...shown, ...MORE].map(([line, does]) =>
        plain
          ? `${line}: ${does}`
          : hangingIndent(`  ${palette.accent(line.padEnd(width))}  `, width + 4, does, columns),
      ),
    ];
    await out.write(`${lines.join('\n')}\n`);
  },
});

// A name that is not stored may be one to begin with, or a key that was pasted in its place.
function refuseWhatMayBeKey({ system, settings: { sandbox, stored, profile } }: Context): void {
  if (sandbox || stored !== undefined || isShowable(profile.value)) return;
  throw unknownProfile(profile.value, readConfig(system).config, profile.origin.name);
}

const FIRST_STEPS: readonly Step[] = [
  ['svc --sandbox logs', 'try it now: no account, no network'],
  ['svc login', 'store your keys; each is checked at once'],
];

const SANDBOX_STEPS: readonly Step[] = [
  ['svc logs', 'the newest audit logs'],
  ['svc tenant usage', 'tokens, and what the plan includes'],
  ['svc au list', 'Account Updater jobs'],
  ['svc sandbox cards', 'test cards, and what each of them brings about'],
];

const MORE: readonly Step[] = [
  ['svc doctor', 'what is set up here, and what is missing'],
  ['svc --help', 'every command'],
];

const STEPS: Readonly<Record<KeyKind, readonly Step[]>> = {
  management: [
    ['svc logs', 'the newest audit logs'],
    ['svc tenant usage', 'tokens, and what the plan includes'],
  ],
  private: [
    ['svc au submit tokens.csv --wait', 'refresh card tokens'],
    ['svc au list', 'the jobs so far'],
  ],
};

function nextSteps(kinds: readonly KeyKind[]): Step[] {
  const lacking = KEY_KINDS.find((kind) => !kinds.includes(kind));
  return [
    ...kinds.flatMap((kind) => STEPS[kind]),
    lacking === undefined
      ? ['svc whoami', 'the tenant, and what your keys may read']
      : ['svc login', `add the ${lacking} key`],
  ];
}

/** Who this profile is, as far as that is known without asking. */
function statusLines(context: Context, kinds: readonly KeyKind[], columns: number): string[] {
  const { settings, system, palette } = context;
  const profile = settings.profile.value;
  if (settings.sandbox)
    return wrapWords('The sandbox: the service emulated on this machine, with made-up data.', columns);
  if (kinds.length === 0) {
    const where = profile === 'default' ? '' : ` in profile ${profile}`;
    return wrapWords(`There are no keys${where} yet. Two ways to begin:`, columns);
  }
  if (settings.baseUrl === undefined)
    return wrapWords(
      `Profile ${profile}, with a key and without a base URL: set SVC_BASE_URL, or use 'svc login'.`,
      columns,
    );
  const url = baseUrlText(settings.baseUrl.value);
  const tenant = knownTenant(system, profile, url);
  const named = tenant && `${tenantMark(tenant.type, palette)} ${palette.strong(cleanText(tenant.name))}`;
  return [...(named === undefined ? [] : [named]), `Profile ${profile}, ${url}`];
}

/** What names this profile again in the lines that follow, where it was named. */
function optionFor({ globals }: Context): string {
  if (globals.sandbox) return '--sandbox ';
  return globals.profile === undefined ? '' : `--profile ${globals.profile} `;
}

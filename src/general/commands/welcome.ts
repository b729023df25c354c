import path from 'node:path';
import { openClaims } from '../../au/open-claims.ts';
import { isShowable } from '../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { nextCommand } from '../../cli/app/hint.ts';
import { tenantInUse, tenantMark } from '../../cli/app/tenant-mark.ts';
import { readConfig } from '../../cli/config/config-file.ts';
import { KEY_TYPES, keyOrigin } from '../../cli/config/keys.ts';
import { directoryOf } from '../../cli/config/paths.ts';
import { unknownProfile } from '../../cli/config/settings.ts';
import { baseUrlText } from '../../cli/config/values.ts';
import { cleanText } from '../../cli/output/text.ts';
import { hangingIndent, wrapWords } from '../../cli/output/wrap.ts';
import { formatDuration } from '../../cli/output/time.ts';
import { countText } from '../../cli/output/number.ts';
import { MINUTE_MS } from '../../schema/durations.ts';
import type { KeyType } from '../../schema/tenant.ts';

type Step = readonly [words: string, does: string];

/** `svc` alone shows the current profile and the next steps. It sends no request. */
export const welcome = defineCommand({
  examples: [],
  newProfile: true,
  parameters: {},
  async run(context) {
    refuseWhatMayBeKey(context);
    const { system, settings, globals, out, palette, plain } = context;
    const columns = context.columns();
    const kinds = KEY_TYPES.filter((kind) => keyOrigin(system, settings, kind) !== undefined);
    const steps = [...stepsFor(settings.sandbox, kinds), ...MORE].map(([words, does]): Step => [
      nextCommand(words.split(' '), words.startsWith('--') ? undefined : globals, system),
      does,
    ]);
    const width = Math.max(...steps.map(([line]) => line.length));
    const open = openWork(context).flatMap((line) => wrapWords(line, columns));
    const lines = [
      ...open,
      ...(open.length > 0 ? [''] : []),
      ...wrapWords('svc: the card vault from the command line', columns).map((line) => palette.strong(line)),
      '',
      ...statusLines(context, kinds, columns),
      '',
      ...steps.map(([line, does]) =>
        plain
          ? `${line}: ${does}`
          : hangingIndent(`  ${palette.accent(line.padEnd(width))}  `, width + 4, does, columns),
      ),
    ];
    await out.write(`${lines.join('\n')}\n`);
  },
});

// The name of an unknown profile may be a key pasted by mistake, so it is not shown.
function refuseWhatMayBeKey({ system, settings: { sandbox, stored, profile } }: Context): void {
  if (sandbox || stored !== undefined || isShowable(profile.value)) return;
  throw unknownProfile(profile.value, readConfig(system).config, profile.origin.name);
}

const STEPS: Readonly<Record<KeyType | 'none' | 'sandbox', readonly Step[]>> = {
  none: [
    ['--sandbox logs', 'try it now: no account, no network'],
    ['login', 'save your API keys (verified before saving)'],
  ],
  sandbox: [
    ['logs', 'the latest audit logs'],
    ['tenant usage', 'tokens, and what the plan includes'],
    ['au jobs', 'Account Updater jobs'],
    ['sandbox cards', 'test cards, and what each of them triggers'],
  ],
  management: [
    ['logs', 'the latest audit logs'],
    ['tenant usage', 'tokens, and what the plan includes'],
  ],
  private: [
    ['au submit tokens.csv --wait', 'refresh card tokens'],
    ['au jobs', 'Account Updater jobs'],
  ],
};

const MORE: readonly Step[] = [
  ['doctor', 'check the setup, with a fix for every problem'],
  ['--help', 'all commands'],
];

function stepsFor(sandbox: boolean, kinds: readonly KeyType[]): readonly Step[] {
  if (sandbox) return STEPS.sandbox;
  if (kinds.length === 0) return STEPS.none;
  const missing = KEY_TYPES.find((kind) => !kinds.includes(kind));
  const last: Step =
    missing === undefined ? ['whoami', 'the tenant, and what your keys may read'] : ['login', `add the ${missing} key`];
  return [...kinds.flatMap((kind) => STEPS[kind]), last];
}

/** Describes the profile, without a request. */
function statusLines(context: Context, kinds: readonly KeyType[], columns: number): string[] {
  const { settings, system, palette } = context;
  const profile = settings.profile.value;
  if (settings.sandbox)
    return wrapWords('The sandbox: the service emulated on this machine, with generated data.', columns);
  if (kinds.length === 0) {
    const where = profile === 'default' ? '' : ` to profile ${profile}`;
    return wrapWords(`You're not logged in${where} yet. Get started:`, columns);
  }
  if (settings.baseUrl === undefined)
    return wrapWords(`Profile ${profile} has a key, but no base URL: set SVC_BASE_URL, or log in.`, columns);
  const url = baseUrlText(settings.baseUrl.value);
  const tenant = tenantInUse({ system, settings });
  const named = tenant && `${tenantMark(tenant.type, palette)} ${palette.strong(cleanText(tenant.name))}`;
  return [...(named === undefined ? [] : [named]), `Profile ${profile}, ${url}`];
}

/** Returns the line about jobs whose results nobody has read, without a request; none without such jobs. */
function openWork(context: Context): string[] {
  const { system, settings, clock, globals } = context;
  const state = directoryOf(system, 'state');
  if (state === undefined) return [];
  const ledgers = path.join(state, 'ledger', ...(settings.sandbox ? ['sandbox'] : []));
  const claims = openClaims(ledgers, tenantInUse(context)?.id);
  if (claims.length === 0) return [];
  const age = roughly(clock.now() - Math.min(...claims.map(({ at }) => at)));
  return [`${countText(claims.length, 'job')} open for ${age}: ${nextCommand(['au', 'status'], globals, system)}`];
}

/** Formats a duration: in whole minutes, or in seconds below a minute. */
function roughly(ms: number): string {
  return formatDuration(ms < MINUTE_MS ? Math.max(0, ms) : Math.floor(ms / MINUTE_MS) * MINUTE_MS);
}

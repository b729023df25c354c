import type { Context } from '../../cli/context.ts';
import { readJsonBody } from '../../cli/json-body.ts';
import type { NameValue } from '../../cli/name-value.ts';
import { SvcError } from '../../errors.ts';
import type { TenantChange } from '../../tenant/change.ts';

/** Where a change of the tenant is given. */
export interface ChangeInput {
  readonly name: string | undefined;
  readonly set: readonly NameValue[];
  readonly file: string | undefined;
  readonly dryRun: boolean;
}

/** The change as given by file and flags, a flag above the file; checked as far as it can be without the tenant. */
export async function readChange(context: Context, input: ChangeInput): Promise<TenantChange> {
  const { name, set, file } = input;
  if (name === undefined && set.length === 0 && file === undefined) {
    throw new SvcError('usage', 'there is nothing to update', { hint: 'Give --name, --set or --file.' });
  }
  checkCanConfirm(context, input);
  const { checkSettingValue } = await import('../../tenant/settings.ts');
  if (name !== undefined) (await import('../../tenant/name.ts')).checkTenantName(name);
  for (const setting of set) checkSettingValue(setting.name, setting.value);
  const base = file === undefined ? NO_CHANGE : await changeFromFile(context, file);
  return {
    ...base,
    name: name ?? base.name,
    settings: new Map([...base.settings, ...set.map((one) => [one.name, one.value] as const)]),
  };
}

const NO_CHANGE: TenantChange = { name: undefined, settings: new Map(), expected: new Map() };

async function changeFromFile(context: Context, file: string): Promise<TenantChange> {
  const { changeFromJson } = await import('../../tenant/change-file.ts');
  return changeFromJson(await readJsonBody(context, file));
}

/** A question that nobody can answer is better refused before anything is read. */
function checkCanConfirm({ globals, prompts }: Context, { file, dryRun }: ChangeInput): void {
  if (globals.yes || dryRun || (file !== '-' && prompts.canAsk)) return;
  const why = file === '-' ? 'standard input holds the change' : 'nobody can be asked';
  throw new SvcError('input_needed', `an update is confirmed first, and ${why}`, {
    hint: 'Pass --yes, or --dry-run to see the difference only.',
  });
}

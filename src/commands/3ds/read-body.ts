import { readJsonBody } from '../../cli/json-body.ts';
import type { Context } from '../../cli/context.ts';
import type { Setting } from '../../three-ds/setting.ts';

/** The body of an authentication from a file, or from standard input for `-`, with the values of `--set` put in. */
export async function readBody(
  context: Context,
  typed: string,
  set: readonly Setting[],
  allowUnknown: boolean,
): Promise<unknown> {
  const [{ withNumericCurrencies, withSettings }, json] = await Promise.all([
    import('../../three-ds/setting.ts'),
    readJsonBody(context, typed, { hint: "Fix it there; 'svc 3ds template' prints a body to start from." }),
  ]);
  return withNumericCurrencies(withSettings(json, set, allowUnknown));
}

import type { Context } from '../../cli/context.ts';

/** Reads the body of a request from a file, or from standard input for `-`: JSON, in which `//` comments may stand. */
export async function readBody(context: Context, typed: string): Promise<unknown> {
  const [{ readJsonBody }, { blankComments }] = await Promise.all([
    import('../../cli/json-body.ts'),
    import('../../three-ds/comments.ts'),
  ]);
  return readJsonBody(context, typed, {
    prepare: blankComments,
    hint: "Mend it there; 'svc 3ds template' prints a body to start from.",
  });
}

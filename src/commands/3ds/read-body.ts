import type { Context } from '../../cli/context.ts';
import { readJsonBody } from '../../cli/json-body.ts';
import { blankComments } from '../../three-ds/comments.ts';

/** Reads the body of a request from a file, or from standard input for `-`: JSON, in which `//` comments may stand. */
export function readBody(context: Context, typed: string): Promise<unknown> {
  return readJsonBody(context, typed, {
    prepare: blankComments,
    hint: "Mend it there; 'svc 3ds template' prints a body to start from.",
  });
}

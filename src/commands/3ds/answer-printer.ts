import type { Context } from '../../cli/context.ts';
import { isForPeople, recordPrinter } from '../../cli/print.ts';
import type { View } from '../../render/view.ts';
import { maskedAnswer } from '../../views/three-ds-masked.ts';

/** The function that writes an answer about 3DS: masked in a table, and said so; as it came in other formats. */
export async function answerPrinter<T extends object>(
  context: Context,
  view: View<T>,
): Promise<(answer: T) => Promise<void>> {
  const print = await recordPrinter(context, view);
  return async (answer) => {
    if (!isForPeople(context)) return print(answer);
    const { shown, hidden } = maskedAnswer(answer);
    await print(shown);
    if (hidden > 0)
      context.notices.note('personal data and authentication values are hidden here; -o json holds them');
  };
}

/** Sends hostile text through every output: a table, notices, an error, a spinner and a question. */
import { SvcError } from '../../../../src/base/errors.ts';
import { createRenderer } from '../../../../src/cli/app/print.ts';
import { printRecord } from '../../../../src/cli/output/output.ts';
import { runProgram } from './system.ts';

const HOSTILE = 'evil\u001b[2J\u001b[1;1H\u001b]0;owned\u0007\u009b5A\r\u202egnp\u200b canary-secret';

await runProgram(async ({ out, notices, progress, prompts }, { clock }) => {
  for (const format of ['table', 'json', 'csv', 'yaml'] as const) {
    const view = { name: 'row', fields: ['text'], columns: [{ path: 'text', kind: 'text' }] } as const;
    const renderer = await createRenderer(format, { view, width: out.width });
    await printRecord(out, renderer, { text: HOSTILE, [HOSTILE]: 1 });
  }
  notices.note(`note ${HOSTILE}`);
  notices.warn(HOSTILE);
  const wait = progress.waiting(HOSTILE);
  wait.update({ state: HOSTILE });
  await clock.sleep(1500);
  wait.done(HOSTILE);
  await prompts().confirm(`sure about ${HOSTILE}?`, 'Pass --yes');
  throw new SvcError('rejected', HOSTILE, { hint: HOSTILE, requestId: HOSTILE, facts: { problems: [HOSTILE] } });
});

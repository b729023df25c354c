/** Shows a transfer, then a wait that never completes, with a note and some data in between. */
import { runProgram } from './system.ts';

await runProgram(async ({ out, notices, progress }, { clock, signal }) => {
  const transfer = progress.bytes('upload tokens.csv', 30_000_000);
  for (let done = 0; done <= 30_000_000; done += 3_000_000) {
    transfer.update(done);
    await clock.sleep(200, signal);
  }
  transfer.done();
  const wait = progress.waiting('job 42');
  wait.update({ state: 'processing', nextPollAt: clock.now() + 60_000 });
  await clock.sleep(1500, signal);
  notices.note('a note in between');
  await out.write('data in between\n');
  await clock.sleep(60_000, signal);
});

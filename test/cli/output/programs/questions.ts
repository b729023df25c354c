/** Asks each kind of question, then prints what was typed. */
import { runProgram } from './system.ts';

await runProgram(async ({ out, prompts }) => {
  const key = await prompts().promptHidden('Private key:', 'Pass --private-key-stdin');
  const name = await prompts().promptText('Tenant name:', 'Pass --confirm <tenant id>');
  await prompts().confirm('Delete it?', 'nothing was deleted');
  await out.write(`${JSON.stringify({ length: key.length, reversed: Array.from(key).toReversed().join(''), name })}\n`);
});

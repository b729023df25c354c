/** Asks each kind of question, then prints what was typed. */
import { runProgram } from './system.ts';

await runProgram(async ({ out, prompts }) => {
  const key = await prompts().promptHidden('Private key:', 'Pass --private-key-stdin');
  const name = await prompts().promptText('Tenant name:', 'Pass --confirm <tenant id>');
  const sure = await prompts().confirm('Delete it?', 'Pass --yes');
  await out.write(
    `${JSON.stringify({ length: key.length, reversed: Array.from(key).toReversed().join(''), name, sure })}\n`,
  );
});

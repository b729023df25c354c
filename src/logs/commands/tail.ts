import { defineCommand } from '../../cli/app/command.ts';
import { moment } from '../../cli/app/moment.ts';
import { conflicting, extending, flag, hidden, rare, suggesting, value } from '../../cli/app/parameter.ts';
import { integer, positiveDuration, text } from '../../cli/app/value-parsers.ts';
import {
  ENTITY_PARAMETERS,
  ENTRY_PARAMETERS,
  HIDE_OWN_READS,
  MAX_LAST,
  NO_HIDE_OWN_READS,
  OVERLAP_PARAMETER,
  RETENTION_PARAMETERS,
} from '../options.ts';
import { parseDestination } from '../otlp/settings.ts';
import { runTail, tailRequest } from '../tail/run-tail.ts';
import { logView } from '../view.ts';

export const tail = defineCommand({
  description:
    'Outages do not end it; a refused key does. Filters marked * are applied by svc. However it ends, it prints the command that resumes it; without --checkpoint its position is kept for seven days.',
  details:
    'Entries are read with an overlap, because they can arrive late; equal entries are counted, not merged. A checkpoint is written after the output or the collector has taken the entries: what was sent since then is repeated after a crash. Without a terminal, --last ends after its entries, unless --follow is given. --since is ignored once there is a checkpoint. --to takes otlp+https://…, and otlp+http://… on this machine only.',
  examples: [
    ['svc logs tail --since 2h', 'two hours back, then follow'],
    ['svc logs tail -n 20 --exclude-operation read', 'the last 20 that are no reads, then follow'],
    ['svc logs tail --checkpoint tail.json >> logs.jsonl', 'into a file, and on from where it stopped when run again'],
    [
      'svc logs tail --to otlp+https://otel.example:4318 --checkpoint tail.json',
      'to an OpenTelemetry collector, with the headers of OTEL_EXPORTER_OTLP_HEADERS',
    ],
    ['svc logs tail --since 1h --for 10m -o csv', 'the last hour, and the next ten minutes'],
  ],
  permissions: ['log:read'],
  exitCodes: [
    8,
    [11, 'another process is at work on the checkpoint'],
    [14, 'entries may be missing (with --strict), or a collector refused some'],
    130,
    143,
  ],
  endsWithReader: true,
  fields: logView.fields,
  parameters: {
    since: value('--since <time>', 'begin here: 2h, 10:00, 2026-01-31 (default: now)', moment),
    last: conflicting(
      ['since', 'to'],
      value('-n, --last <n>', 'begin with the last n entries, up to 10,000', integer(1, MAX_LAST)),
    ),
    follow: rare(flag('-f, --follow', 'with --last: follow in a pipe too')),
    ...ENTITY_PARAMETERS,
    ...ENTRY_PARAMETERS,
    hideOwnReads: conflicting(['checkpoint', 'to'], {
      ...HIDE_OWN_READS,
      description: 'hide own reads of the logs (default on a terminal)',
    }),
    noHideOwnReads: NO_HIDE_OWN_READS,
    checkpoint: extending(value('--checkpoint <file>', 'keep the position in this file, and resume there', text)),
    to: suggesting(
      () => [['otlp+http://127.0.0.1:4318', 'a collector on this machine']],
      value('--to <destination>', 'send entries to an OpenTelemetry collector', parseDestination),
    ),
    overlap: hidden(OVERLAP_PARAMETER),
    interval: hidden(value('--interval <duration>', 'pause between two polls (default 1s to 15s)', positiveDuration)),
    for: value('--for <duration>', 'end after this time', positiveDuration),
    max: rare(value('--max <n>', 'end after this many entries', integer(1))),
    idleExit: hidden(value('--idle-exit <duration>', 'end when nothing new arrives for this long', positiveDuration)),
    ...RETENTION_PARAMETERS,
  },
  async run(context, input) {
    const { checkpoint } = input;
    if (checkpoint !== undefined) {
      const { requireOutside } = await import('../archive/place.ts');
      requireOutside(context, { option: '--checkpoint', typed: checkpoint });
    }
    return runTail(context, input);
  },
  request: tailRequest,
});

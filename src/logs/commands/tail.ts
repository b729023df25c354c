import { defineCommand } from '../../cli/app/command.ts';
import { runTail, tailRequest } from '../follow/run-tail.ts';
import { parameters } from '../follow/start.ts';
import { logView } from '../view.ts';

export const tail = defineCommand({
  description:
    'Entries are read with an overlap, because they can arrive late; equal entries are counted, not merged. Outages do not end it; a refused key does. Options marked * are filtered client-side. A checkpoint is written after the output, or the collector, has taken the entries: what was sent since then is repeated after a crash. However it ends, the command that resumes it is printed; without --checkpoint its position is kept for seven days.',
  examples: [
    ['svc logs tail --since 2h', 'two hours back, then follow'],
    ['svc logs tail -n 20 --exclude-operation read', 'the last 20 that are no reads, then follow'],
    ['svc logs tail --checkpoint tail.json >> logs.jsonl', 'into a file; run again, it resumes where it stopped'],
    [
      'svc logs tail --to otlp+https://collector.example:4318 --checkpoint tail.json',
      'to an OpenTelemetry collector; headers as in OTEL_EXPORTER_OTLP_HEADERS',
    ],
    ['svc logs tail --since 1h --idle-exit 30s -o csv', 'the last hour, until no more entries come'],
  ],
  permissions: ['log:read'],
  exitCodes: [8, 14, 130, 143],
  fields: logView.fields,
  parameters,
  run: runTail,
  request: tailRequest,
});

import { defineCommand } from '../../cli/app/command.ts';
import { runTail, tailRequest } from '../follow/run-tail.ts';
import { parameters } from '../follow/start.ts';
import { logView } from '../view.ts';

export const tail = defineCommand({
  description:
    'Outages do not end it; a refused key does. Filters marked * are applied by svc. However it ends, it prints the command that resumes it; without --checkpoint its position is kept for seven days.',
  details:
    'Entries are read with an overlap, because they can arrive late; equal entries are counted, not merged. A checkpoint is written after the output or the collector has taken the entries: what was sent since then is repeated after a crash. Without a terminal, --last ends after its entries, unless --follow is given. --since is ignored once there is a checkpoint. --to takes otlp+https://…, and otlp+http://… on this machine only.',
  examples: [
    ['svc logs tail --since 2h', 'two hours back, then follow'],
    ['svc logs tail -n 20 --exclude-operation read', 'the last 20 that are no reads, then follow'],
    ['svc logs tail --checkpoint tail.json >> logs.jsonl', 'into a file; run again, it resumes where it stopped'],
    [
      'svc logs tail --to otlp+https://otel.example:4318 --checkpoint tail.json',
      'to an OpenTelemetry collector; headers as in OTEL_EXPORTER_OTLP_HEADERS',
    ],
    ['svc logs tail --since 1h --idle-exit 30s -o csv', 'the last hour, until no more entries come'],
  ],
  permissions: ['log:read'],
  exitCodes: [8, [14, 'entries may be missing (with --strict), or a collector refused some'], 130, 143],
  fields: logView.fields,
  parameters,
  run: runTail,
  request: tailRequest,
});

import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/system.ts';
import { createTransport } from '../../src/client/http/transport.ts';
import { sinkOf } from '../../src/events/sinks.ts';
import { FaultServer } from '../support/fault-server.ts';
import { silence } from '../support/fault-steps.ts';
import { received } from './support.ts';

it('a sink reports when the earliest event was received, also where a later one failed before it', async () => {
  const hanging = await FaultServer.start([silence('request')]);
  const transport = createTransport();
  const sink = sinkOf(hanging.url, { transport, clock: systemClock });
  // One is under way and 10,000 wait, so that the last one finds the queue full.
  for (let at = 0; at < 10_002; at += 1)
    sink.add({ ...received(`e${at}`), repeated: false, size: 1, receivedAt: 1_000 + at });
  expect(await sink.finish(AbortSignal.abort())).toMatchObject({ events: { count: 10_002, since: 1_000 } });
  await transport.close();
  await hanging.close();
});

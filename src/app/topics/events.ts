import { SAMPLE_TYPES } from '../../webhooks/received.ts';
import type { Page } from '../help-page.ts';

/** `svc help events` */
export function events(): Page {
  return {
    title: 'Webhook events: the service tells of a job that has ended',
    sections: [
      {
        title: 'Examples',
        examples: [
          ['svc events listen --journal events.jsonl', 'receive and keep them; the address is printed'],
          ["svc events listen --exec './on-event.sh'", 'run a command for each'],
          [`svc events trigger ${SAMPLE_TYPES[1] ?? ''} --dry-run`, 'what a sample would be'],
          ['svc events replay events.jsonl --forward-to http://127.0.0.1:4000/hook', 'send a journal again'],
          ['svc au submit tokens.csv --wait --events 4100', 'done as soon as its event comes'],
        ],
      },
      { title: 'Types with a sample', words: SAMPLE_TYPES },
      {
        title: 'What to know',
        rows: [
          ['delivery', 'the same event can come twice: event.id tells; answer quickly, work afterwards'],
          [
            'loopback',
            'svc listens on this machine only, unless --host and --allow-remote say otherwise: a tunnel or proxy of yours brings events from outside',
          ],
          ['journal', 'an event is kept before it is acknowledged; print, forward and command come after'],
          ['signatures', 'are kept and passed on, not checked: how they are made is not described'],
          ['truth', 'an event only tells when to look: what counts is the job that is read then'],
        ],
      },
    ],
  };
}

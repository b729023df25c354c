import type { Page } from '../help-page.ts';

/** `svc help sandbox` */
export function sandbox(): Page {
  return {
    title: 'The sandbox: the service emulated on this machine, no account, no network',
    sections: [
      {
        title: 'Examples',
        examples: [
          ['svc --sandbox logs --limit 5', 'inside the command itself'],
          ['svc sandbox start --port 4010', 'as a server, for any other client'],
          ["svc sandbox exec --expect 'GET /logs>=1' -- svc logs --limit 1", 'a gate for a job in CI'],
          ['svc sandbox clock +6d', 'six days later: jobs finish, uploads expire, logs age'],
          ['svc sandbox cards --request', 'a request file that yields every result code'],
          ['svc sandbox reset --yes', 'forget all of it'],
        ],
      },
      {
        title: 'What to know',
        rows: [
          ['state', 'is kept between commands, in SVC_STATE_DIR: a job of one is there for the next'],
          ['--sandbox', 'is --profile sandbox: no key is asked for, and none of yours is sent'],
          [
            'faults',
            "SVC_SANDBOX_FAULTS='seed=7; 503@GET /logs:0.5' and --fault make requests go wrong, alike for a seed",
          ],
          ['limits', '--limits on enforces the known rate limits'],
          ['audit', 'every request with a known key leaves a log entry of its own'],
          [
            'not there',
            'card networks, billing, users, proxies; a production job takes no days unless --processing says so',
          ],
        ],
      },
    ],
  };
}

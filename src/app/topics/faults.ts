import type { Page } from '../help-page.ts';

/** `svc help faults` */
export function faults(): Page {
  return {
    title: 'Faults: make requests to the sandbox fail, to test what handles that',
    sections: [
      {
        title: 'Examples',
        examples: [
          ["svc sandbox exec --fault '503@GET /logs:#1-2' -- svc logs --limit 1", 'an outage that ends'],
          [
            "SVC_SANDBOX_FAULTS='seed=7; 429,retry-after=1@GET /logs:0.1' svc --sandbox logs --limit 1",
            'one request in ten is rate limited',
          ],
        ],
      },
      {
        title: 'Syntax',
        rows: [
          ['a fault', '<effect>[,<effect>…]@<METHOD> <path>[:<when>]'],
          [
            'several',
            '--fault may be repeated; in --scenario one a line; in SVC_SANDBOX_FAULTS separated by ;',
          ],
          ['METHOD', 'GET, POST, PUT, DELETE, or * for any'],
          ['path', '* stands for one segment, ** for anything; the query is ignored'],
          ['when', 'a probability such as 0.1; #3 for the third such request, #3-5, #3-; always if omitted'],
          ['seed=<n>', 'in a scenario or variable: the same seed and requests give the same faults'],
        ],
      },
      {
        title: 'Effects',
        rows: [
          ['503', 'respond with this status'],
          ['<header>=<value>', 'set a header of the response, such as retry-after=2'],
          ['body=<text>', 'replace the body of the response'],
          ['redirect=<url>', 'redirect, with 307 unless a status is given'],
          ['latency=2s', 'wait before anything else'],
          ['trickle=20ms', 'send the body a byte at a time, with this pause'],
          ['hang, hang=body', 'send nothing, or half of the body, and keep the connection open'],
          ['reset, reset=<bytes>', 'reset the connection, at once or within the body'],
          ['truncate=<bytes>', 'close the connection within the body'],
          ['malformed', 'send bytes that are not HTTP'],
          ['applied', 'let the request take effect first, such as 500,applied'],
        ],
      },
    ],
  };
}

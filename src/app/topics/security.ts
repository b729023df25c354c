import { KEY_VARIABLES } from '../../config/keys.ts';
import type { Page } from '../help-page.ts';

/** `svc help security` */
export function security(): Page {
  return {
    title: 'Security: where keys go, and what never leaves',
    sections: [
      {
        title: 'Examples',
        examples: [
          ['svc login --management-key-stdin < key.txt', 'from a file, not from a command line'],
          ['svc profile show', 'which keys are stored; the keys themselves show nowhere'],
          ['svc logout', 'remove them'],
        ],
      },
      {
        title: 'Keys',
        rows: [
          [
            'two kinds',
            'management: logs, tenant; private: 3DS, Account Updater; never one for the other after a refusal',
          ],
          [
            'looked for in',
            `${[...new Set(Object.values(KEY_VARIABLES).flat())].join(', ')}, each also as …_FILE; then the profile`,
          ],
          ['no option', 'takes a key: a list of processes shows options'],
          [
            'stored',
            'in a file that only you can read, and sent only to the base URL that it was stored with',
          ],
          ['key commands', 'a profile can name a command that prints the key, for any secret manager'],
        ],
      },
      {
        title: 'What svc promises',
        rows: [
          [
            'https',
            'only, loopback aside; nothing leaves certificates unchecked, NODE_TLS_REJECT_UNAUTHORIZED neither',
          ],
          ['redirects', 'are never followed: an error names the host'],
          ['addresses', 'for upload and download are secrets: (hidden) unless --show-urls; they get no key'],
          [
            'card numbers',
            'in a file or a body end the command with 13, before anything is sent; the number is not shown',
          ],
          [
            'terminal',
            'text from the service is cleaned of escapes and of characters that hide or turn text',
          ],
          ['--debug', 'and every message: keys, signed addresses and card numbers are taken out'],
          [
            'what it starts',
            'gets none of these keys; a pager or browser only what it takes to show something',
          ],
          ['--curl', 'prints a request with the key as a variable, not as its value'],
        ],
      },
    ],
  };
}

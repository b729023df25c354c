import { ENTITY_TYPES_FILE_NAME } from '../../config/entity-types.ts';
import {
  cacheDirectory,
  CONFIG_FILE_NAME,
  configDirectory,
  type PathsHost,
  stateDirectory,
} from '../../config/paths.ts';
import { REQUEST_COLUMNS, RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import type { Page } from '../help-page.ts';

/** `svc help files` */
export function files(host: PathsHost): Page {
  return {
    title: 'Files: what svc keeps on this machine, and files in and out',
    sections: [
      {
        title: 'Examples',
        examples: [
          [
            'svc sandbox cards --request | svc --sandbox au check -',
            'a request file, checked without sending it',
          ],
          ['SVC_STATE_DIR=$PWD/state svc --sandbox au status', 'runs recorded in another place'],
        ],
      },
      {
        title: 'Directories',
        rows: [
          [
            'SVC_CONFIG_DIR',
            `profiles and keys, in ${CONFIG_FILE_NAME}, for you alone; ${shown(configDirectory(host))}`,
          ],
          [
            'SVC_STATE_DIR',
            `runs (runs/<id>/run.json), the embedded sandbox (sandbox), copies of piped files while they are needed; ${shown(stateDirectory(host))}`,
          ],
          [
            'SVC_CACHE_DIR',
            `what can be fetched again (${ENTITY_TYPES_FILE_NAME}); ${shown(cacheDirectory(host))}`,
          ],
        ],
      },
      {
        title: 'In',
        rows: [
          [
            'request file',
            `CSV in UTF-8 with the columns ${REQUEST_COLUMNS.join(', ')}; card numbers are refused`,
          ],
          ['body for 3ds', "JSON, with // comments if you like: 'svc 3ds template <type>' writes one"],
          ['-', 'standard input, wherever a command takes <file|->'],
        ],
      },
      {
        title: 'Out',
        rows: [
          [
            'results',
            `CSV, byte for byte as they came: ${RESULT_COLUMNS.join(', ')}; further columns are kept`,
          ],
          ['downloads', 'whole or absent, for you alone, never over another file without --force'],
          ['--checkpoint', 'how far a tail is: run again, it goes on exactly there'],
          ['archive', 'a folder a day of gzip files, with a chained manifest that tells any later change'],
          ['--journal', 'webhook events, one JSON object a line'],
        ],
      },
    ],
  };
}

function shown(directory: string | undefined): string {
  return directory === undefined ? 'there is no home directory for it here' : `here ${directory}`;
}

/** A request as curl is to send it. */
export interface CurlRequest {
  readonly method: string;
  /** Quoted as it is, unless it is `{ variable }`: then the shell puts it in. */
  readonly url: string | { readonly variable: string };
  readonly headers: Readonly<Record<string, string>>;
  /** The variable that holds the key. */
  readonly keyVariable?: string | undefined;
  /** Text of the body. */
  readonly body?: string | undefined;
  /** A file that is the body. */
  readonly upload?: string | undefined;
}

/** A curl command for a POSIX shell, an option a line, with a newline at its end. Keys and secret addresses are variables. */
export function curlCommand({ method, url, headers, keyVariable, body, upload }: CurlRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    // The shell puts the key in: it stands in no file and no history.
    ...(keyVariable === undefined ? [] : [`-H "SVC-API-KEY: $${keyVariable}"`]),
    ...(body === undefined ? [] : [`--data-raw ${quoted(visible(body))}`]),
    ...(upload === undefined ? [] : [`--upload-file ${quoted(upload)}`]),
    // curl takes brackets and braces for patterns otherwise.
    ...(typeof url === 'string' && /[[\]{}]/.test(url) ? ['--globoff'] : []),
    typeof url === 'string' ? quoted(url) : `"$${url.variable}"`,
  ];
  return `curl ${options.join(' \\\n  ')}\n`;
}

/** One word of a POSIX shell, whatever the text holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

// What a terminal could take for an order, or a reader could overlook, is written as JSON has it.
function visible(body: string): string {
  return body.replace(/[\p{Cf}\u007F-\u009F\u2028\u2029]/gu, (sign) =>
    Array.from(
      { length: sign.length },
      (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

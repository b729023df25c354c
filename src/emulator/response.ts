// Makes the responses of the emulated service.

export type Headers = Readonly<Record<string, string>>;

/** Returns a response with a JSON body, or without a body. */
export function jsonResponse(status: number, body: unknown, headers: Headers = {}): Response {
  if (body === undefined) return new Response(null, { status, headers });
  return textResponse(status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8', ...headers });
}

/** Returns a response with a text and its length, which a HEAD request needs too. */
export function textResponse(status: number, text: string, headers: Headers): Response {
  const length = String(Buffer.byteLength(text));
  return new Response(text, { status, headers: { ...headers, 'content-length': length } });
}

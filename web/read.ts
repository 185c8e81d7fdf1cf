/** Data of the gateway; 'too-large' instead of more than this many bytes, which no parser gets. Throws when it does not answer. */
export async function readJson(path: string, maxBytes: number): Promise<unknown> {
  const text = await readText(path, maxBytes);
  return text === 'too-large' ? text : JSON.parse(text);
}

/** The same for text. */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const reply = await fetch(path);
  if (!reply.ok) throw new Refused(path, reply.status, await codeOf(reply));
  if (Number(reply.headers.get('content-length') ?? 0) > maxBytes) {
    await reply.body?.cancel();
    return 'too-large';
  }
  return reply.text();
}

/** An answer that is no success, with the code of the refusal where it has one. */
export class Refused extends Error {
  readonly code: string | null;
  constructor(path: string, status: number, code: string | null) {
    super(`${path}: ${status}`);
    this.code = code;
  }
}

async function codeOf(reply: Response): Promise<string | null> {
  const body = (await reply.json().catch(() => null)) as { readonly error?: { readonly code?: unknown } } | null;
  const code = body?.error?.code;
  return typeof code === 'string' ? code : null;
}

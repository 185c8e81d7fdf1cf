import {
  type DocumentFormat,
  type Language,
  networkRequestFacts,
  networkRequestLetter,
  writeDocumentAs,
} from '../../report/index.ts';
import { loadSite, timeZoneOf } from '../../site/index.ts';
import { assertPrintable, writeDocument } from '../document-file.ts';
import { readKnownIdentity } from './check/identity.ts';
import type { NetworkRequest } from './network.result.ts';

export interface NetworkRequestOptions {
  readonly sitePath: string;
  readonly lang: Language;
  readonly format: DocumentFormat;
  /** Without it the letter is returned; required for a PDF. */
  readonly out?: string | undefined;
  readonly force?: boolean;
  /** Folder of the fonts that a PDF embeds. */
  readonly fontsDir: string;
  /** The date of the letter. */
  readonly now: () => Date;
}

/**
 * Writes the letter to the customer's IT, filled from the site file, and from the identity where that has no broker.
 * Makes no connection. Throws SITE_FILE_NOT_FOUND, SITE_FILE_INVALID, USAGE, FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function writeNetworkRequest(options: NetworkRequestOptions): Promise<NetworkRequest> {
  const { lang, format, out, force = false } = options;
  assertPrintable(format, out);
  const site = await loadSite(options.sitePath);
  const identity = await readKnownIdentity(site);
  const facts = networkRequestFacts(site, identity.kind === 'enrolled' ? identity.endpoint : null);
  const { content, pages, replacedCharacters } = await writeDocumentAs(
    networkRequestLetter(facts, { lang, madeAt: options.now(), timeZone: timeZoneOf(site) }),
    format,
    options.fontsDir,
  );
  const about = { lang, format, facts, complete: facts.open.length === 0 };
  if (out === undefined) return { ...about, document: String(content), written: null };
  const bytes = await writeDocument(out, content, { force });
  return { ...about, document: null, written: { path: out, bytes, pages, replacedCharacters } };
}

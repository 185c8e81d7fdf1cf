import type { Title } from '../../text/index.ts';
import type { Format } from '../texts/format.ts';
import type { Texts } from '../texts/texts.ts';
import type { Viewer } from '../viewer.ts';

/** A file as `GET /api/medien` lists it. */
export interface MediaFile {
  readonly name: string;
  readonly bytes: number;
  /** Of the types that a browser may show; anything else is `application/octet-stream`. */
  readonly contentType: string;
}

/** What the media page shows: the answer of `GET /api/medien`. */
export interface MediaLibraryView {
  /** null: the folder cannot be read now. */
  readonly files: readonly MediaFile[] | null;
  /** Files that are not listed. */
  readonly moreFiles: number;
  /** Of one file. */
  readonly maxBytes: number;
  /** How many bytes the library still takes; null: not known. */
  readonly leftBytes: number | null;
}

export type MediaKind = 'image' | 'audio' | 'video' | 'text' | 'document' | 'other';

/** By the type that the gateway serves it with, never by its name. */
export function kindOf(contentType: string): MediaKind {
  const [type = ''] = contentType.split('/', 1);
  if (type === 'image' || type === 'audio' || type === 'video' || type === 'text') return type;
  return contentType === 'application/pdf' ? 'document' : 'other';
}

/** Project decision: a browser has six connections to a gateway, and STOPP must not wait for large images. */
export const MAX_SHOWN_IMAGE_BYTES = 5_000_000;

export const mediaPath = (name: string) => `/api/medien/${encodeURIComponent(name)}`;

export function mediaRefusal(code: string, t: Texts): string {
  const ofMedia: Readonly<Record<string, string>> = t.media.refusals;
  return ofMedia[code] ?? t.refusals[code] ?? t.ui.notPossible;
}

/** What only a page with script has, except for the file that a person has chosen to delete. */
export interface MediaInteraction {
  /** The file to be deleted, not confirmed yet. */
  readonly chosen: string | null;
  /** `share` is that of the sent bytes; 1: all are sent, and the answer is awaited. */
  readonly upload: { readonly name: string; readonly share: number } | null;
  readonly isDeleting: boolean;
  readonly done: { readonly kind: 'stored' | 'replaced' | 'deleted' | 'cancelled'; readonly name: string } | null;
  /** Why something was not done, as a code of the refusals. */
  readonly problem: string | null;
  /** Names of files that this browser could not play or show. */
  readonly unplayable: readonly string[];
  /** null: rendered by the server. */
  readonly act: MediaActions | null;
}

interface MediaActions {
  readonly choose: (name: string | null) => void;
  readonly remove: (name: string) => void;
  /** Sends the file of this form element. */
  readonly upload: (form: object) => void;
  readonly cancelUpload: () => void;
  /** This media element starts to play. */
  readonly plays: (element: object) => void;
  readonly cannotPlay: (name: string) => void;
}

export const stillMedia: MediaInteraction = {
  chosen: null,
  upload: null,
  isDeleting: false,
  done: null,
  problem: null,
  unplayable: [],
  act: null,
};

/** What the page is rendered with, and hydrated. */
export interface MediaPage {
  readonly kind: 'media';
  readonly site: Title;
  readonly library: MediaLibraryView;
  readonly viewer: Viewer;
  readonly chosen: string | null;
}

export interface MediaProps extends Pick<MediaPage, 'site' | 'library' | 'viewer'> {
  readonly ui: MediaInteraction;
  readonly t: Texts;
  readonly f: Format;
}

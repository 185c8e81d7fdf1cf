import type { ComponentType, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Document } from './document.tsx';
import {
  type Frame,
  Refused,
  type RefusedProps,
  SetPoseForm,
  type SetPoseProps,
  SignIn,
  type SignInProps,
  SupportEnded,
  type SupportEndedProps,
  UnknownPage,
} from './form-pages.tsx';
import { Media } from './media/media.tsx';
import { type MediaPage, stillMedia } from './media/media-model.ts';
import type { PageState } from './model.ts';
import { Service } from './service/service.tsx';
import { Surface } from './surface/surface.tsx';
import { textsOf } from './texts/catalogue.ts';
import { type Props, still } from './ui.ts';
import type { Choice, Viewer } from './viewer.ts';

const html = (page: VNode) => `<!doctype html>\n${renderToString(page)}\n`;

interface Live {
  readonly state: PageState;
  readonly viewer: Viewer;
}

function livePage(
  Page: ComponentType<Props>,
  kind: 'surface' | 'service',
  { state, viewer }: Live,
  choice: Choice | null,
): string {
  const { t, f } = textsOf(viewer.language, state.timeZone, kind === 'service' ? 'technician' : 'staff');
  const title = kind === 'surface' ? t.ui.surface : t.ui.service;
  return html(
    <Document
      title={title}
      site={state.site.title ?? state.site.name}
      kind={kind}
      viewer={viewer}
      t={t}
      data={JSON.stringify({ kind, state, viewer, choice })}
      isAsking={choice !== null}
    >
      <Page state={state} viewer={viewer} ui={{ ...still, choice }} t={t} f={f} />
    </Document>,
  );
}

/** The operator surface as HTML; `choice` is what a person without script has chosen. */
export const surfacePage = (live: Live, choice: Choice | null) => livePage(Surface, 'surface', live, choice);
export const servicePage = (live: Live) => livePage(Service, 'service', live, null);

/** The media library as HTML; `chosen` is the file that a person without script has chosen to delete. */
export function mediaPage({ site, library, viewer, chosen }: Omit<MediaPage, 'kind'>): string {
  const { t, f } = textsOf(viewer.language, 'UTC');
  const data: MediaPage = { kind: 'media', site, library, viewer, chosen };
  return html(
    <Document title={t.media.title} site={site} kind="media" viewer={viewer} t={t} data={JSON.stringify(data)}>
      <Media site={site} library={library} viewer={viewer} ui={{ ...stillMedia, chosen }} t={t} f={f} />
    </Document>,
  );
}

type Without<P> = Omit<P, 't'>;
const texts = ({ language }: Viewer) => textsOf(language, 'UTC').t;

export const signInPage = (props: Without<SignInProps>) => html(<SignIn {...props} t={texts(props.viewer)} />);
export const refusedPage = (props: Without<RefusedProps>) => html(<Refused {...props} t={texts(props.viewer)} />);
export const unknownPage = (props: Without<Frame>) => html(<UnknownPage {...props} t={texts(props.viewer)} />);
export const setPosePage = (props: Without<SetPoseProps>) => html(<SetPoseForm {...props} t={texts(props.viewer)} />);
export const supportEndedPage = (props: Without<SupportEndedProps>) =>
  html(<SupportEnded {...props} t={texts(props.viewer)} />);

import { hydrate, render } from 'preact';
import { ROOT_ID, STATE_ID } from '../src/lib/pages/document.tsx';
import type { PlainPage } from '../src/lib/pages/form-pages.tsx';
import type { MediaPage } from '../src/lib/pages/media/media-model.ts';
import type { PageState } from '../src/lib/pages/model.ts';
import { Service } from '../src/lib/pages/service/service.tsx';
import { Surface } from '../src/lib/pages/surface/surface.tsx';
import { textsOf } from '../src/lib/pages/texts/catalogue.ts';
import { type Interaction, isStopOpen, still } from '../src/lib/pages/ui.ts';
import type { Choice, Viewer } from '../src/lib/pages/viewer.ts';
import { deliveries } from './delivery.ts';
import { createDimming } from './dimming.ts';
import { createMap } from './map.ts';
import { startMedia } from './media.tsx';
import { orders } from './orders.ts';
import { createPosing } from './pose.ts';
import { createQuestion } from './question.ts';
import { createSearch } from './search.ts';
import { serviceActs } from './service.ts';
import { followStates } from './states.ts';
import { startStop, startStopForm } from './stop.tsx';

/** Brings a page to life that is whole without it: present values, the map, and orders that need no reload. */
interface Page {
  readonly kind: 'surface' | 'service';
  readonly state: PageState;
  readonly viewer: Viewer;
  readonly choice: Choice | null;
}

/** The operator surface has nothing of this. */
const noService = {
  ...{ openLog: () => {}, openDays: () => {}, editPose: () => {}, setPose: () => {} },
  ...{ openIncidents: () => {}, showIncident: () => {}, seek: () => {}, play: () => {} },
};

const root = document.getElementById(ROOT_ID);
const data = document.getElementById(STATE_ID)?.textContent;
if (root !== null && data) {
  const page = JSON.parse(data) as Page | MediaPage | PlainPage;
  if (page.kind === 'media') startMedia(root, page);
  else if (page.kind === 'plain') startStopForm(root, page.viewer);
  else start(root, page);
}

function start(root: HTMLElement, { kind, viewer, choice, ...page }: Page): void {
  let state = page.state;
  let ui: Interaction = { ...still, choice };
  const Shown = kind === 'surface' ? Surface : Service;
  const element = () => {
    const { t, f } = textsOf(viewer.language, state.timeZone, kind === 'service' ? 'technician' : 'staff');
    return <Shown state={state} viewer={viewer} ui={ui} t={t} f={f} />;
  };
  /** Changes within a frame are painted once. */
  let isPlanned = false;
  function show(change: Partial<Interaction> = {}): void {
    ui = { ...ui, ...change };
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      render(element(), root);
      map.painted(state, ui);
      delivery.painted(ui.isSilent);
      question.painted();
      posing?.painted();
    });
  }

  hydrate(element(), root);
  const isService = kind === 'service';
  const map = createMap({ viewer, show });
  const acts = orders();
  const delivery = deliveries(() => state, show);
  const question = createQuestion({ state: () => state, ui: () => ui, show });
  const service = isService ? serviceActs({ state: () => state, ui: () => ui, show }) : null;
  const posing = service === null ? null : createPosing(() => ui, service.acts.editPose);
  const dim =
    isService || viewer.readOnly
      ? () => {}
      : createDimming({ state: () => state, ui: () => ui, onDim: question.close });
  const stop = startStop(root, viewer, (progress) => {
    if (isStopOpen(progress)) question.close();
    show({ stop: progress });
  });
  const press = () => stop.press(state.site.serial);
  const { zoom, follow, goToPin } = map;
  const search = createSearch(show);
  const acted = { ...acts, ...delivery.acts, ...question.acts, ...(service?.acts ?? noService), ...search };
  show({ act: { ...acted, stop: press, zoom, follow, goToPin } });
  if (choice !== null) question.acts.choose(choice);
  /** The technician page has a map only where the pose is set, and of an incident. */
  const hasMap = () => !isService || document.querySelector('details#set-pose[open], .replay') !== null;
  // Another choice than the address says would come back with a reload.
  if (choice !== null) history.replaceState(null, '', location.pathname);
  if (hasMap()) map.follows(state);
  followStates({
    onState(next) {
      const { build } = state;
      state = next;
      stop.onState(state);
      show({ isSilent: false });
      question.onState();
      if (hasMap()) map.follows(state);
      service?.onState();
      dim();
      const isIdle =
        ui.choice === null && !isStopOpen(ui.stop) && state.standing === 'stands' && state.run?.state !== 'running';
      if (next.build !== build) {
        if (isIdle) location.reload();
        else state = { ...next, build };
      }
    },
    onPose(posed) {
      state = { ...state, ...posed };
      show();
    },
    onSilence() {
      show({ isSilent: true, lastHour: 'loading' });
      question.close();
      dim();
    },
  });
}

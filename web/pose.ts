import { headingOfDrag, placeOf } from '../src/lib/pages/map/pose-geometry.ts';
import type { PoseDraft, PoseFields } from '../src/lib/pages/service/pose-draft.ts';
import type { Actions, Interaction } from '../src/lib/pages/ui.ts';

interface Drag {
  readonly pointerId: number;
  readonly x: number;
  readonly y: number;
  /** What a second finger brings back: it zooms. */
  readonly before: PoseDraft;
}

/** Places the pose that a person is about to set: a touch of the map is its place, a drag from there its heading. */
export function createPosing(ui: () => Interaction, edit: Actions['editPose']) {
  let shown: SVGSVGElement | null = null;
  let drag: Drag | null = null;

  function began(event: PointerEvent): void {
    if (shown === null) return;
    if (!event.isPrimary) {
      if (drag !== null) edit(fieldsOf(drag.before));
      drag = null;
      return;
    }
    const layer = shown.querySelector<SVGGElement>('#map-layer')?.getScreenCTM();
    if (event.button !== 0 || !layer || ui().pose.order === 'sending') return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(layer.inverse());
    drag = { pointerId: event.pointerId, x: event.clientX, y: event.clientY, before: ui().pose };
    shown.setPointerCapture(event.pointerId);
    const { xM, yM } = placeOf(x, y);
    edit({ xM: text(xM, 2), yM: text(yM, 2) });
  }

  function moved(event: PointerEvent): void {
    if (drag?.pointerId !== event.pointerId) return;
    const yawDeg = headingOfDrag(event.clientX - drag.x, event.clientY - drag.y);
    if (yawDeg !== null) edit({ yawDeg: text(yawDeg, 1) });
  }

  function ended(event: PointerEvent): void {
    if (drag?.pointerId === event.pointerId) drag = null;
  }

  return {
    /** After each painting: the picture may be a new one. */
    painted(): void {
      const svg = document.querySelector<SVGSVGElement>('#set-pose #map');
      if (svg === shown) return;
      shown = svg;
      drag = null;
      svg?.addEventListener('pointerdown', began);
      svg?.addEventListener('pointermove', moved);
      svg?.addEventListener('pointerup', ended);
      svg?.addEventListener('pointercancel', ended);
    },
  };
}

/** As a field of a form has it: with a point, and without zeros at the end. */
function text(value: number, digits: number): string {
  return `${Number(value.toFixed(digits)) + 0}`;
}

const fieldsOf = ({ xM, yM, yawDeg }: PoseFields): PoseFields => ({ xM, yM, yawDeg });

import { declutter } from '../src/lib/pages/map/declutter.ts';
import type { PageState } from '../src/lib/pages/model.ts';
import type { Interaction } from '../src/lib/pages/ui.ts';

/** Space between a text and the edge of its label. */
const PADDING_PX = 4;

/** Shows the labels of the map that find space at this scale; a pin without its label is a small one. */
export function createLabels() {
  const widths = new Map<string, number>();
  let [height, font] = [0, ''];
  let before: readonly unknown[] = [];

  /** By the text: measuring is slow, and names stay. */
  function widthOf(text: SVGTextElement): number {
    const key = text.textContent ?? '';
    const width = widths.get(key) ?? text.getComputedTextLength() + 2 * PADDING_PX;
    // Of a map that is not shown.
    if (width > 2 * PADDING_PX) widths.set(key, width);
    return width;
  }

  return {
    /** Whether a painting changed what is labelled, and what must be. */
    isOther({ site, run, map }: PageState, { choice, atPin }: Interaction): boolean {
      const now = [
        JSON.stringify([site.stations, site.dock]),
        choice,
        atPin,
        run?.name,
        run?.at,
        run?.state,
        map.value?.uid,
      ];
      const isOther = now.some((part, at) => part !== before[at]);
      before = now;
      return isOther;
    },
    arrange(svg: SVGSVGElement): void {
      const elements = [...svg.querySelectorAll<SVGGElement>('.label')];
      const layer = svg.querySelector<SVGGElement>('#map-layer')?.getScreenCTM();
      if (!layer) return;
      const [first] = elements;
      if (first === undefined) return;
      const style = getComputedStyle(first.querySelector('text') as SVGTextElement);
      if (style.fontSize !== font) {
        widths.clear();
        font = style.fontSize;
        height = 1.35 * Number.parseFloat(font);
      }
      const focused = document.activeElement?.getAttribute('data-pin');
      const places = elements.map((element) => {
        const place = element.transform.baseVal.consolidate()?.matrix;
        const id = element.getAttribute('data-label') ?? '';
        return {
          ...{ id, height, x: (place?.e ?? 0) * layer.a + layer.e, y: (place?.f ?? 0) * layer.d + layer.f },
          width: widthOf(element.querySelector('text') as SVGTextElement),
          isNeeded: element.classList.contains('chosen') || element.classList.contains('goal') || id === focused,
        };
      });
      const around = [...(svg.parentElement?.querySelectorAll('.map-note, .map-tools') ?? [])];
      const covered = around.map((one) => one.getBoundingClientRect());
      const placed = declutter(places, svg.getBoundingClientRect(), covered);
      const pins = new Map([...svg.querySelectorAll('[data-pin]')].map((pin) => [pin.getAttribute('data-pin'), pin]));
      for (const [at, element] of elements.entries()) {
        const { id, x, y, width } = places[at] as (typeof places)[number];
        const box = placed.get(id);
        element.toggleAttribute('data-shown', box !== undefined);
        pins.get(id)?.toggleAttribute('data-small', box === undefined);
        if (box === undefined) continue;
        const tag = element.querySelector('.tag');
        tag?.setAttribute('transform', `translate(${box.left - x} ${box.top - y})`);
        tag?.querySelector('rect')?.setAttribute('width', `${width}`);
        tag?.querySelector('rect')?.setAttribute('height', `${height}`);
        const text = tag?.querySelector('text');
        text?.setAttribute('x', `${width / 2}`);
        text?.setAttribute('y', `${0.75 * height}`);
      }
    },
  };
}

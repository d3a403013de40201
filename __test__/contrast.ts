/** The contrast of texts in drawings, which axe leaves out: runs in the page, alone. */

export interface Contrast {
  readonly text: string;
  readonly fill: string;
  readonly ground: string;
  readonly ratio: number;
}

/** Of each text of a drawing: its fill against whatever is drawn below its middle. */
export function contrasts(): Contrast[] {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser draws nothing');
  type Colour = [red: number, green: number, blue: number];
  type Layer = readonly [colour: string, opacity: number];
  /** What is over each other, as it is seen. */
  const seen = (layers: readonly Layer[]): Colour => {
    for (const [colour, opacity] of layers) {
      context.fillStyle = colour;
      context.globalAlpha = opacity;
      context.fillRect(0, 0, 1, 1);
    }
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue];
  };
  /** As WCAG 2 has it. */
  const luminance = (colour: Colour) => {
    const [red = 0, green = 0, blue = 0] = colour.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { pointer-events: auto !important }');
  document.adoptedStyleSheets.push(sheet);
  const found: Contrast[] = [];
  for (const text of document.querySelectorAll<SVGTextElement>('.plot svg text')) {
    text.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = text.getBoundingClientRect();
    if (width === 0) continue;
    const below = document
      .elementsFromPoint(left + width / 2, top + height / 2)
      .filter((element) => !text.contains(element))
      .map((element) => {
        const { backgroundColor, fill, fillOpacity } = getComputedStyle(element);
        if (!(element instanceof SVGElement)) return [backgroundColor, 1] as const;
        return [
          element instanceof SVGGeometryElement ? fill : 'none',
          Number(fillOpacity),
        ] as const;
      })
      .filter(([colour]) => colour !== 'none');
    const own = getComputedStyle(text).fill;
    const layers: Layer[] = [['#fff', 1], ...below.reverse()];
    const ground = seen(layers);
    const [dark = 0, light = 0] = [luminance(ground), luminance(seen([...layers, [own, 1]]))].sort(
      (a, b) => a - b,
    );
    const ratio = (light + 0.05) / (dark + 0.05);
    found.push({ text: text.textContent ?? '', fill: own, ground: `${ground}`, ratio });
  }
  document.adoptedStyleSheets.pop();
  return found;
}

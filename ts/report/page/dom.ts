/** Elements, made without markup: whatever comes from documents enters as text. */

type Child = Node | string | undefined;
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled<E extends Element>(
  element: E,
  attributes: Attributes,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Gives an element other children. If a button in it had the keyboard focus, the button with the same first class and number gets it. */
export function replace(parent: HTMLElement, ...children: readonly Node[]): void {
  const focused = document.activeElement;
  const role = parent.contains(focused) ? focused?.classList[0] : undefined;
  const buttons = () => [...parent.querySelectorAll<HTMLElement>(`button.${role}`)];
  const number = buttons().indexOf(focused as HTMLElement);
  parent.replaceChildren(...children);
  if (number < 0) return;
  const all = buttons();
  (all[number] ?? all.at(-1))?.focus({ preventScroll: true });
}

/** An element of the page. */
export function at<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

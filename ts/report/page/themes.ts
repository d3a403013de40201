/** Light, dark, or as the system has it. */

const KEY = 'simhash-theme';

export function start(): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('.themes button')];
  const show = (theme: string) => {
    document.documentElement.dataset['theme'] = theme;
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset['theme'] === theme));
    }
  };
  show(kept() ?? 'auto');
  for (const button of buttons) {
    button.addEventListener('click', () => {
      const { theme = 'auto' } = button.dataset;
      show(theme);
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // Pages of files may have no storage: then it lasts as long as the page.
      }
    });
  }
}

function kept(): string | undefined {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : undefined;
  } catch {
    return undefined;
  }
}

// The pictures of the page in `docs`: one per tab, and one of a phone.

/** The names of the pictures, by the label of the tour and the tab. */
export const pictures = {
  "light-compress": "page-compress",
  "dark-inspect": "page-inspect",
  "light-verify": "page-verify",
  "gpu-gpu": "page-gpu",
  "light-learn": "page-learn",
  "phone-compress": "page-phone",
};

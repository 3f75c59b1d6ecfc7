// Shades of one colour, from the ground to its strongest: 64 of them, as many as are stored.

const SHADES = 64;

// Red, green and blue of each shade, in the theme of the page.
function heatShades() {
  const stops = [ink("--heat-low"), ink("--heat-middle"), ink("--heat-high")].map((hex) =>
    [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({ length: SHADES }, (_, shade) => {
    const place = (2 * shade) / (SHADES - 1);
    const [low, high] = place < 1 ? [stops[0], stops[1]] : [stops[1], stops[2]];
    const share = place < 1 ? place : place - 1;
    return low.map((value, at) => Math.round(value + share * (high[at] - value)));
  });
}

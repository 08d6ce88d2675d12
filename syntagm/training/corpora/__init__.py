"""Reading of corpora: text, trees and BLLIP, and their nested subsets."""

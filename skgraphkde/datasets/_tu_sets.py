"""Facts about the data sets of the TU collection: names, classes, and the usual anomaly."""

from __future__ import annotations

from typing import NamedTuple


class TUSet(NamedTuple):
    """Facts that the files do not contain."""

    anomaly_class: int | None
    classes: dict[int, str]
    about: str


#: The twelve data sets of the paper. The anomaly is the class that its experiments call so.
BENCHMARK = {
    "MUTAG": TUSet(
        -1,
        {-1: "not mutagenic", 1: "mutagenic"},
        "Nitroaromatic compounds without hydrogens; node labels are elements, edge labels bonds: 0 "
        "aromatic, 1 single, 2 double, 3 triple. Debnath et al., J. Med. Chem. 34, 1991; Kriege "
        "and Mutzel, ICML 2012.",
    ),
    "PROTEINS": TUSet(
        2,
        {1: "enzyme", 2: "not an enzyme"},
        "Proteins as graphs of secondary-structure elements; node labels are their kinds. Dobson "
        "and Doig, J. Mol. Biol. 330, 2003; Borgwardt et al., Bioinformatics 21, 2005.",
    ),
    "DD": TUSet(
        2,
        {1: "enzyme", 2: "not an enzyme"},
        "Proteins as graphs of amino acids, joined below 6 Angstrom; node labels are their types. "
        "Dobson and Doig, J. Mol. Biol. 330, 2003; Shervashidze et al., JMLR 12, 2011.",
    ),
    "ENZYMES": TUSet(
        1,
        {ec: f"EC {ec}" for ec in range(1, 7)},
        "Enzymes from BRENDA as graphs of secondary-structure elements; the class is the top level "
        "of the EC number. Borgwardt et al., Bioinformatics 21, 2005; Schomburg et al., Nucleic "
        "Acids Research 32, 2004.",
    ),
    "DHFR": TUSet(
        -1,
        {-1: "inactive", 1: "active"},
        "Ligands of dihydrofolate reductase; node labels are elements, attributes coordinates. "
        "Sutherland, O'Brien and Weaver, J. Chem. Inf. Comput. Sci. 43, 2003.",
    ),
    "BZR": TUSet(
        1,
        {-1: "inactive", 1: "active"},
        "Ligands of the benzodiazepine receptor; node labels are elements, attributes coordinates. "
        "Sutherland, O'Brien and Weaver, J. Chem. Inf. Comput. Sci. 43, 2003.",
    ),
    "COX2": TUSet(
        1,
        {-1: "inactive", 1: "active"},
        "Ligands of cyclooxygenase-2; node labels are elements, attributes coordinates. "
        "Sutherland, O'Brien and Weaver, J. Chem. Inf. Comput. Sci. 43, 2003.",
    ),
    "AIDS": TUSet(
        0,
        {0: "active", 1: "inactive"},
        "Compounds of the AIDS antiviral screen; node labels are elements, attributes two chemical "
        "properties and two coordinates, edge labels bonds: 0 single, 1 double, 2 triple. Riesen "
        "and Bunke, SSPR 2008.",
    ),
    "IMDB-BINARY": TUSet(
        0,
        {0: "first genre", 1: "second genre"},
        "Ego networks of actors who appeared together in films of one of two genres, action and "
        "romance; no node labels. Yanardag and Vishwanathan, KDD 2015.",
    ),
    "NCI1": TUSet(
        0,
        {0: "inactive", 1: "active"},
        "Compounds screened against lung cancer cell lines; node labels are elements. Wale and "
        "Karypis, ICDM 2006; Shervashidze et al., JMLR 12, 2011.",
    ),
    "COLLAB": TUSet(
        1,
        {1: "high energy physics", 2: "condensed matter physics", 3: "astrophysics"},
        "Ego networks of researchers who published together; no node labels. Yanardag and "
        "Vishwanathan, KDD 2015.",
    ),
    "REDDIT-BINARY": TUSet(
        -1,
        {-1: "class -1", 1: "class 1"},
        "Threads of two kinds of communities, discussion and question-and-answer: users, joined "
        "where one replied to the other; no node labels. Yanardag and Vishwanathan, KDD 2015.",
    ),
}

#: Any other data set.
UNKNOWN = TUSet(None, {}, "See the collection's page.")

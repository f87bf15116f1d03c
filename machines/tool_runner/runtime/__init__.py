"""The reference tool runner: the smallest thing that obeys the charts under the policies it is given."""
